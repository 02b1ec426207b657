/** Numbers that have a place are counted there, nulls are not, and all others are left. */
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import {
  beginBatch,
  beginStates,
  endBatches,
  maximumRows,
  newCodes,
  newTable,
} from '../../src/kernel/memory.ts'
import { tallyNumbers } from '../../src/kernel/tally.ts'

afterEach(endBatches)

const groupCount = 3
const value = fc.oneof(
  fc.integer({ min: -30, max: 30 }).map((whole) => whole / 10),
  fc.constantFrom(Number.NaN, -0, 0.30000000000000004, 1e300, -1e300, 2 ** 53, 0.05, 1e-300),
)

test('counts by group and number', () => {
  const given = fc.record({
    values: fc.array(fc.tuple(value, fc.nat({ max: groupCount - 1 })), { minLength: 1 }),
    count: fc.oneof(fc.nat({ max: 40 }), fc.constantFrom(maximumRows - 1, maximumRows)),
    range: fc.record({
      base: fc.integer({ min: -25, max: 5 }),
      size: fc.integer({ min: 1, max: 40 }),
    }),
    only: fc.option(fc.nat({ max: groupCount - 1 })),
  })
  fc.assert(
    fc.property(given, ({ values, count, range: { base, size }, only }) => {
      beginStates()
      beginBatch()
      const divisor = 10
      const row = (i: number) => values[(i * 7 + (i >> 4)) % values.length]!
      const numbers = Float64Array.from({ length: count }, (_, i) => row(i)[0])
      const groups = Int32Array.from({ length: count }, (_, i) => only ?? row(i)[1])
      const places = Array.from({ length: size }, (_, k) => (base + k) / divisor)
      const expected = { counts: new Array<number>(groupCount * size).fill(0), left: [0].slice(1) }
      for (const [i, number] of numbers.entries()) {
        if (Number.isNaN(number)) continue
        const place = places.indexOf(number)
        if (place < 0) expected.left.push(i)
        else expected.counts[groups[i]! * size + place]!++
      }
      const counts = newTable(groupCount * size, 0)
      const left = newCodes(count)
      const range = { base, divisor, size }
      const leftCount = tallyNumbers(numbers, only ?? groups, count, range, counts, left)
      expect([...left.subarray(0, leftCount)]).toEqual(expected.left)
      expect([...counts]).toEqual(expected.counts)
    }),
    { numRuns: 60 },
  )
})
