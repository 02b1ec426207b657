import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstRows } from '../../src/executor/first-rows.ts'

const values = fc
  .array(fc.constantFrom(Number.NaN, -1, -0, 0, 0.5, 1, 7), { maxLength: 30 })
  .map((numbers) => Float64Array.from(numbers))

const order = fc.record({
  wanted: fc.integer({ min: 1, max: 12 }),
  descending: fc.boolean(),
  laterFirst: fc.boolean(),
})

/** Some of the rows. */
const selected = (count: number) =>
  fc.option(
    fc.subarray(Array.from({ length: count }, (_, i) => i)).map((rows) => Int32Array.from(rows)),
    { nil: undefined },
  )

test('what is left are the first rows, and those that tie with the last when ties are not decided', () => {
  const given = values.chain((numbers) => fc.tuple(fc.constant(numbers), selected(numbers.length)))
  fc.assert(
    fc.property(given, order, ([numbers, selection], { wanted, descending, laterFirst }) => {
      const rows = [...(selection ?? numbers.keys())]
      const rank = (row: number) => {
        const value = numbers[row]!
        return Number.isNaN(value) ? Number.POSITIVE_INFINITY : descending ? -value : value
      }
      const compare = (a: number, b: number) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b))
      const sorted = rows.toSorted((a, b) => compare(a, b) || b - a)
      const last = sorted[wanted - 1]
      const expected = laterFirst
        ? sorted.slice(0, wanted)
        : sorted.filter((row) => last === undefined || compare(row, last) <= 0)
      const found = firstRows(numbers, selection, numbers.length, {
        wanted,
        descending,
        laterFirst,
      })
      expect([...(found ?? numbers.keys())]).toEqual(expected.toSorted((a, b) => a - b))
    }),
    { numRuns: 1000 },
  )
})
