/** Sums and extremes are the same from whole numbers as they are stored as from the numbers that these stand for. */
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { countOf, sumOf, wordsPerSum } from '../../src/kernel/group-sums.ts'
import { beginBatch, beginStates, endBatches, newState } from '../../src/kernel/memory.ts'
import { extremeOfStored, sumStored } from '../../src/kernel/narrow-sums.ts'

afterEach(endBatches)

const widths = [
  ['bytes', Int8Array],
  ['two bytes', Int16Array],
  ['four bytes', Int32Array],
] as const

const given = fc.record({
  values: fc.array(
    fc.oneof(
      fc.integer({ min: -130, max: 130 }),
      fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      fc.constantFrom(-(2 ** 31), -(2 ** 31) + 1, -(2 ** 15), -(2 ** 7), 127, 2 ** 31 - 1),
    ),
    { minLength: 1, maxLength: 200 },
  ),
  base: fc.constantFrom(0, -7, 2 ** 33, 2 ** 50),
  divisor: fc.constantFrom(1, 1, 10, 1000),
})
type Given = typeof given extends fc.Arbitrary<infer Shape> ? Shape : never

/** A stored column, and the numbers that it has. */
function columnOf(array: (typeof widths)[number][1], { values, base, divisor }: Given) {
  beginStates()
  beginBatch()
  const integers = array.from(values)
  const none = -(2 ** (array.BYTES_PER_ELEMENT * 8 - 1))
  const known = [...integers].filter((integer) => integer !== none)
  const numbers = known.map((integer) => (integer + base) / divisor)
  return { stored: { integers, base, divisor }, numbers }
}

describe.each(widths)('of %s', (_, array) => {
  test('the sum of whole numbers', () => {
    fc.assert(
      fc.property(given, (shape) => {
        const { stored, numbers } = columnOf(array, shape)
        const states = newState(2 * wordsPerSum, 0)
        const isTaken = sumStored(stored, states, 1)
        const isWhole = shape.divisor === 1 && shape.base < 2 ** 50
        expect(isTaken || !isWhole).toBe(true)
        expect(isTaken && shape.divisor !== 1).toBe(false)
        const exact = numbers.reduce((sum, number) => sum + BigInt(isTaken ? number : 0), 0n)
        expect(BigInt(sumOf(states, 1))).toBe(exact)
        expect(countOf(states, 1)).toBe(isTaken ? numbers.length : 0)
        expect(countOf(states, 0)).toBe(0)
      }),
      { numRuns: 200 },
    )
  })

  test.each([
    ['least', -1],
    ['greatest', 1],
  ] as const)('the %s number', (__, direction) => {
    fc.assert(
      fc.property(given, (shape) => {
        const { stored, numbers } = columnOf(array, shape)
        const extreme = direction < 0 ? Math.min(...numbers) : Math.max(...numbers)
        const expected = numbers.length === 0 ? Number.NaN : extreme
        expect(extremeOfStored(direction, stored)).toBe(expected)
      }),
      { numRuns: 200 },
    )
  })
})
