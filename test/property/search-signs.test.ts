/** Full-text search of signs and words finds what an oracle of regular expressions finds. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { foldedForSearch } from '../../src/type/fold-accents.ts'
import { readSearchQuery } from '../../src/type/search-query.ts'
import { matchWords } from '../../src/type/text-match.ts'
import { matches } from '../support/oracle-full-text.ts'
import { randomSeed } from '../support/random-seed.ts'

const pieces = [
  ...'a b C 5 é Straße 東京 → ⇒ ≠ = != => < </ $ € % # @ && + ++ - -- . , : ; ! ? * / ( ) { } _ | ~ ^ $ {'.split(
    ' ',
  ),
  ...'🎉 👍 👍🏽 👩‍💻 👩 💻 🇩🇪 🇦🇩 🇪🇸 ❤️ ❤ ™ :) ;-P .NET C++ C# =\u0338'.split(' '),
  ...[' ', ' ', ' ', '\n', "'"],
]

const written = fc
  .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 })
  .map((list) => list.join(''))
const query = fc.oneof(
  written,
  written,
  written.map((text) => `"${text}"`),
)

it('signs and words are found as the oracle finds them', () => {
  fc.assert(
    fc.property(fc.tuple(written, written), query, ([first, second], asked) => {
      const texts = [first, `${first}${asked}`, `${second} ${asked.replaceAll('"', '')} ${first}`]
      for (const text of texts) {
        expect([text, asked, matchWords(text, asked)]).toEqual([text, asked, matches(text, asked)])
      }
    }),
    { seed: randomSeed, numRuns: 1000 },
  )
})

it('what is typed is found where it is written so', () => {
  fc.assert(
    fc.property(written, written, (asked, other) => {
      fc.pre(readSearchQuery(asked).length > 0)
      expect(matchWords(`${other} ${asked} ${other}`, asked)).toBe(true)
    }),
    { seed: randomSeed, numRuns: 1000 },
  )
})

it('takes time linear in the text', () => {
  const arrows = '→'.repeat(200_000)
  const flags = '🇩🇪'.repeat(50_000)
  const begin = performance.now()
  for (const asked of ['"→ x"', '"→ ⇒"', '"→ → ⇒ x"', '"→ a ⇒ b"', '🇪🇩', '🇩🇪 🇩🇪x', '"🇩🇪 x"']) {
    for (const text of [arrows, flags, `${arrows}a${arrows}`, `${arrows} x`]) {
      matchWords(text, asked)
    }
  }
  for (const sign of ['!', '=', ':', '(', '🇩', '→', '.']) readSearchQuery(sign.repeat(100_000))
  expect(foldedForSearch('👩\u200d'.repeat(50_000)).length).toBeGreaterThan(0)
  expect(performance.now() - begin).toBeLessThan(10_000)
})
