import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstRows } from '../../src/executor/order/first-rows.ts'

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

test('of many rows in any order, with room for few', () => {
  const shapes = {
    ascending: (i: number) => i,
    descending: (i: number) => -i,
    'at random': (i: number) => Math.sin(i * 12.9898) * 43758.5453,
    few: (i: number) => i % 7,
    'with nulls': (i: number) => (i % 3 === 0 ? Number.NaN : (i * 7919) % 1009),
    'nearly all null': (i: number) => (i % 500 === 0 ? i : Number.NaN),
  }
  for (const [name, shape] of Object.entries(shapes)) {
    const numbers = Float64Array.from({ length: 9000 }, (_, i) => shape(i))
    for (const [descending, laterFirst, wanted] of [
      [true, false, 10],
      [false, true, 30],
      [true, true, 1500],
      [false, false, 0],
    ] as const) {
      const sign = descending ? -1 : 1
      const rank = (row: number) => {
        return Number.isNaN(numbers[row]) ? Number.POSITIVE_INFINITY : numbers[row]! * sign
      }
      const sorted = [...numbers.keys()].sort((a, b) => rank(a) - rank(b) || b - a)
      const last = rank(sorted[wanted - 1] ?? -1)
      const expected = laterFirst
        ? sorted.slice(0, wanted)
        : sorted.filter((row) => wanted > 0 && !(rank(row) > last))
      const found = firstRows(numbers, undefined, 9000, { wanted, descending, laterFirst })
      expect([...(found ?? numbers.keys())], name).toEqual(expected.sort((a, b) => a - b))
    }
  }
})
