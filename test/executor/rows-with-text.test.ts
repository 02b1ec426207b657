/** Rows that are found by the bytes of a column are those that have the text, or nothing is told of them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rowsWithText } from '../../src/executor/text/rows-with-text.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import { randomSeed } from '../support/random-seed.ts'
import { versionedRow } from '../support/versioned-row.ts'

const path = ['metadata', 'user']

function columnsOf(users: readonly unknown[]) {
  const rows = users.map((user, index) => {
    const json = JSON.stringify({ id: `${index}`, metadata: { user } })
    return versionedRow(json, { version: { transaction: 1000, index } })
  })
  return shred(rows)
}

const user = fc.oneof(
  fc.constantFrom('', 'ann', 'anne', 'änne', 'nna', undefined, null),
  fc.nat(40).map((n) => `user-${n}`),
)
/** Many rows have few texts, as those of a model, or each has another. */
const repetitions = fc.constantFrom(1, 1, 30)
const odd = fc.constantFrom<unknown>(7, true, { a: 'ann' }, ['ann'], 'half \ud83d of one')

test(`finds what an equality finds, seed ${randomSeed}`, () => {
  let told = 0
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 40, arbitrary: user }, { weight: 1, arbitrary: odd }), {
        minLength: 1,
        maxLength: 60,
      }),
      fc.array(fc.oneof(user, fc.constant('nobody')), { minLength: 1, maxLength: 3 }),
      fc.nat(10),
      repetitions,
      (some, wanted, from, times) => {
        const users = Array.from({ length: some.length * times }, (_, i) => some[i % some.length])
        const texts = wanted.filter((text) => typeof text === 'string')
        const start = Math.min(from, users.length)
        const found = rowsWithText(columnsOf(users), path, texts, start, users.length)
        if (!found) return
        told++
        const right = users.flatMap((given, row) => {
          return row >= start && texts.includes(given as string) ? [row] : []
        })
        expect(found).toEqual(right)
      },
    ),
    { numRuns: 300, seed: randomSeed },
  )
  expect(told).toBeGreaterThan(100)
})

test('tells nothing of texts that may be elsewhere', () => {
  expect(rowsWithText(columnsOf(['ann', 'half \ud83d']), path, ['ann'], 0, 2)).toBeUndefined()
  expect(rowsWithText(columnsOf(['ann', 7, true]), path, ['ann'], 0, 3)).toEqual([0])
})
