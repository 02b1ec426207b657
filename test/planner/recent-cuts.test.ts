/** Cutting a text like one before is the same as cutting it anew. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutLiterals } from '../../src/planner/cut-literals.ts'
import { RecentCuts } from '../../src/planner/recent-cuts.ts'

const heads = ['filter: id = ', 'filter: a.b >', "select: 'x' | filter: n <= ", 'filter: t.', '']
const tails = ['', ' | limit: 1', ') and x', '.5', '0', "'", ' = 1', ' -- 7', '\n| sort: a']
const quoted = (text: string) => `'${text}'`
const literals = fc.oneof(
  fc.nat().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom('007', '1.', '.5', '1e3', '5x', '12345678901234567', '', '-1'),
  fc.stringMatching(/^[a-z0-9-]{1,20}$/).map(quoted),
  fc
    .constantFrom("a'b", "a''b", 'a\\', "\\'", '', '2026-01-01', '2026', '\0', 'ü', '`')
    .map(quoted),
  fc.string().map(quoted),
  fc.string().map((text) => `"${text}"`),
)

const described = (cut: ReturnType<typeof cutLiterals>) =>
  cut && { shape: cut.shape, literals: cut.literals, text: cut.with(cut.literals) }

test('a text is cut as if none had been before', () => {
  const given = fc.tuple(fc.constantFrom(...heads), fc.constantFrom(...tails))
  fc.assert(
    fc.property(
      fc.array(given, { minLength: 1, maxLength: 3 }),
      fc.array(literals),
      (forms, all) => {
        const cuts = new RecentCuts()
        for (const literal of all) {
          for (const [head, tail] of forms) {
            const text = head + literal + tail
            expect(described(cuts.cut('U', text)), text).toEqual(described(cutLiterals(text)))
          }
        }
      },
    ),
  )
})

test('what is cut again can be filled with other literals', () => {
  const cuts = new RecentCuts()
  cuts.cut('U', "filter: id = 'first' | limit: 2")
  const again = cuts.cut('U', "filter: id = 'second' | limit: 2")!
  expect(again.literals).toEqual([{ kind: 'text', value: 'second' }])
  expect(again.with([{ kind: 'text', value: 'third' }])).toBe("filter: id = 'third' | limit: 2")
  expect(again.shape).toBe(cutLiterals("filter: id = 'x' | limit: 2")?.shape)
})
