/** Sums and extremes are the same from whole numbers as they are stored as from the numbers that these stand for. */
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { addToSum, countOf, sumOf, wordsPerSum } from '../../src/kernel/group-sums.ts'
import { beginBatch, beginStates, endBatches, newState } from '../../src/kernel/memory.ts'
import {
  extremeOfStored,
  keepExtremesOfStored,
  sumStored,
  sumStoredByGroup,
  sumStoredWhere,
} from '../../src/kernel/narrow-sums.ts'

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
  divisor: fc.constantFrom<number>(1, 1, 10, 1000),
})
type Given = typeof given extends fc.Arbitrary<infer Shape> ? Shape : never

/** Numbers of up to some thousands, as many batches have, and rows that count. */
const masked = fc.record({
  values: fc.array(
    fc.oneof(fc.integer({ min: -130, max: 130 }), fc.integer({ min: 0, max: 3000 })),
    {
      minLength: 1,
      maxLength: 400,
      size: 'max',
    },
  ),
  base: fc.constantFrom(0, -7, 5000),
  divisor: fc.constantFrom(1, 8, 10, 1000, 1_000_000),
  mask: fc.array(fc.constantFrom(0, 1), { minLength: 5, maxLength: 40 }),
})

/** In units of 2^-120, which is exact for doubles that are not very small. */
function fixed(number: number): bigint {
  return (
    BigInt(Math.trunc(number * 2 ** 60)) * 2n ** 60n + BigInt(((number * 2 ** 60) % 1) * 2 ** 60)
  )
}

/** Rows for lanes of few groups and for single states of many, which rows of the same group may follow each other in. */
const grouped = fc.record({
  shape: given.chain((shape) =>
    fc.record({
      values: fc.array(
        fc.oneof(fc.integer({ min: -130, max: 130 }), fc.constantFrom(...shape.values)),
        {
          minLength: 1,
          maxLength: 400,
          size: 'max',
        },
      ),
      base: fc.constant(shape.base),
      divisor: fc.constant(shape.divisor),
    }),
  ),
  groupCount: fc.constantFrom(2, 5, 90),
  seeds: fc.array(fc.nat(1000), { minLength: 7, maxLength: 7 }),
})

/** The group of each row. */
function groupsOf(count: number, groupCount: number, seeds: readonly number[]): Int32Array {
  return Int32Array.from({ length: count }, (_, row) => {
    return (seeds[row % seeds.length]! * (1 + (row >> 4))) % groupCount
  })
}

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

  test('the sum of the rows of a mask loses nothing to rounding', () => {
    fc.assert(
      fc.property(masked, ({ values, base, divisor, mask }) => {
        const { stored } = columnOf(array, { values, base, divisor })
        const none = -(2 ** (array.BYTES_PER_ELEMENT * 8 - 1))
        const states = newState(2 * wordsPerSum, 0)
        addToSum(states, 1, 2 ** -20, 0, 1)
        const kept = Uint8Array.from(values, (_, row) => mask[row % mask.length]!)
        const areTaken = [1, 2].map(() => sumStoredWhere(stored, kept, states, 1))
        expect(areTaken).toEqual([array !== Int32Array, array !== Int32Array])
        const numbers = [...stored.integers].flatMap((integer, row) => {
          return kept[row] === 1 && integer !== none ? [(integer + base) / divisor] : []
        })
        const times = areTaken[0] ? 2 : 0
        expect(countOf(states, 1)).toBe(1 + times * numbers.length)
        const exact = numbers.reduce((sum, number) => sum + fixed(number), 0n) * BigInt(times)
        // Each part as it is: their sum as one double has fewer bits.
        const [sum, error] = [states[wordsPerSum]!, states[wordsPerSum + 2]!]
        expect(fixed(sum) + fixed(error)).toBe(exact + fixed(2 ** -20))
      }),
      { numRuns: 300 },
    )
  })

  test('sums by group', () => {
    fc.assert(
      fc.property(grouped, ({ shape, groupCount, seeds }) => {
        const { stored } = columnOf(array, shape)
        const none = -(2 ** (array.BYTES_PER_ELEMENT * 8 - 1))
        const groups = groupsOf(stored.integers.length, groupCount, seeds)
        const states = newState(groupCount * wordsPerSum, 0)
        const expected = new Float64Array(groupCount * wordsPerSum)
        const sizes = new Float64Array(groupCount)
        for (const sums of [states, expected]) addToSum(sums, 1, 0.5, 0, 1)
        expect(sumStoredByGroup(stored, groups, states)).toBe(true)
        for (const [row, integer] of stored.integers.entries()) {
          if (integer === none) continue
          const number = (integer + shape.base) / shape.divisor
          addToSum(expected, groups[row]!, number, 0, 1)
          sizes[groups[row]!]! += Math.abs(number)
        }
        for (let group = 0; group < groupCount; group++) {
          expect(countOf(states, group)).toBe(countOf(expected, group))
          const difference = Math.abs(sumOf(states, group) - sumOf(expected, group))
          const last = 2 ** -52 * Math.abs(sumOf(expected, group)) + 2 ** -90 * sizes[group]!
          expect(difference).toBeLessThanOrEqual(last)
        }
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['least', -1],
    ['greatest', 1],
  ] as const)('the %s numbers by group', (__, direction) => {
    fc.assert(
      fc.property(grouped, ({ shape, groupCount, seeds }) => {
        const { stored } = columnOf(array, shape)
        const count = stored.integers.length
        const none = -(2 ** (array.BYTES_PER_ELEMENT * 8 - 1))
        const groups = groupsOf(count, groupCount, seeds)
        const start = direction < 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
        const states = newState(groupCount, start)
        const expected = new Float64Array(groupCount).fill(start)
        for (const extremes of [states, expected]) extremes[1] = 3.5
        const isTaken = keepExtremesOfStored(direction, stored, groups, states)
        const isWide = array === Int32Array && direction < 0
        expect(isTaken).toBe(!isWide && groupCount * 16 <= count)
        for (const [row, integer] of stored.integers.entries()) {
          if (integer === none || !isTaken) continue
          const number = (integer + shape.base) / shape.divisor
          const known = expected[groups[row]!]!
          expected[groups[row]!] = direction < 0 ? Math.min(known, number) : Math.max(known, number)
        }
        expect([...states]).toEqual([...expected])
      }),
      { numRuns: 300 },
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
