/** Sums and extremes are the same from whole numbers as they are stored as from the numbers that these stand for. */
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { beginBatch, beginStates, endBatches, newState } from '../../src/kernel/arena.ts'
import { GroupSums } from '../../src/kernel/group-sums.ts'
import { countStored, IntegerRange } from '../../src/kernel/narrow-mask.ts'
import {
  DecimalSums,
  extremeOfStored,
  keepExtremesOfStored,
  sumStored,
  sumStoredWhere,
  sumWholeByGroup,
} from '../../src/kernel/narrow-sums.ts'
import type { StoredIntegers } from '../../src/vector/elements.ts'

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

/** Those of a group. */
function numbersOf(stored: StoredIntegers, groups: Int32Array, group: number): number[] {
  const { integers, base, divisor } = stored
  const none = -(2 ** (integers.BYTES_PER_ELEMENT * 8 - 1))
  return [...integers].flatMap((integer, row) => {
    return groups[row] === group && integer !== none ? [(integer + base) / divisor] : []
  })
}

function exactSum(numbers: readonly number[]): bigint {
  return numbers.reduce((sum, number) => sum + fixed(number), 0n)
}

function sumsOf(groupCount: number): GroupSums {
  const sums = new GroupSums()
  sums.resize(groupCount)
  return sums
}

/** A sum as it is: as one double it has fewer bits. */
function partsOf(sums: GroupSums, group: number): bigint {
  sums.settle()
  const [sum, rest] = sums.pairOf(group)!
  return fixed(sum) + fixed(rest)
}

describe.each(widths)('of %s', (_, array) => {
  test('the sum of all', () => {
    fc.assert(
      fc.property(given, (shape) => {
        const { stored, numbers } = columnOf(array, shape)
        const states = sumsOf(2)
        const isTaken = sumStored(stored, states, 1)
        const isWhole = shape.divisor === 1 && shape.base < 2 ** 50
        const isSummable = array !== Int32Array && shape.base < 2 ** 19
        if (isWhole) expect(isTaken).toBe(true)
        else if (shape.divisor !== 1) expect(isTaken).toBe(isSummable)
        expect(partsOf(states, 1)).toBe(isTaken ? exactSum(numbers) : 0n)
        expect(states.countOf(1)).toBe(isTaken ? numbers.length : 0)
        expect(states.countOf(0)).toBe(0)
      }),
      { numRuns: 200 },
    )
  })

  test('the sum of the rows of a mask loses nothing to rounding', () => {
    fc.assert(
      fc.property(masked, ({ values, base, divisor, mask }) => {
        const { stored } = columnOf(array, { values, base, divisor })
        const none = -(2 ** (array.BYTES_PER_ELEMENT * 8 - 1))
        const states = sumsOf(2)
        states.addPart(1, 2 ** -20, 1)
        const kept = Uint8Array.from(values, (_, row) => mask[row % mask.length]!)
        const numbers = [...stored.integers].flatMap((integer, row) => {
          return kept[row] === 1 && integer !== none ? [(integer + base) / divisor] : []
        })
        const isTaken = array !== Int32Array
        const added = [1, 2].map(() => sumStoredWhere(stored, kept, states, 1))
        expect(added).toEqual([1, 2].map(() => (isTaken ? numbers.length : undefined)))
        const times = isTaken ? 2 : 0
        expect(states.countOf(1)).toBe(1 + times * numbers.length)
        expect(partsOf(states, 1)).toBe(exactSum(numbers) * BigInt(times) + fixed(2 ** -20))
      }),
      { numRuns: 300 },
    )
  })

  test('the sum of a range of many rows loses nothing to rounding', () => {
    const bound = fc.double({ min: -33_000, max: 40_000, noNaN: true })
    const repeats = fc.constantFrom(1, 30, 300)
    fc.assert(
      fc.property(masked, bound, bound, repeats, ({ values, base, divisor }, a, b, times) => {
        // Some with all bits that two bytes have.
        const great = values.map((value) => (value > 127 ? value + 29_000 : value))
        const many = Array.from({ length: times }, (_, i) => (i % 3 === 0 ? values : great)).flat()
        const { stored } = columnOf(array, { values: many, base, divisor })
        const none = -(2 ** (array.BYTES_PER_ELEMENT * 8 - 1))
        const [low, high] = [Math.min(a, b) / divisor, Math.max(a, b) / divisor]
        const numbers = [...stored.integers].flatMap((integer) => {
          const number = (integer + base) / divisor
          return integer !== none && number >= low && number <= high ? [number] : []
        })
        expect(countStored(stored, new IntegerRange({ low, high }))).toBe(numbers.length)
        const states = sumsOf(2)
        const added = sumStoredWhere(stored, new IntegerRange({ low, high }), states, 1)
        const isTaken = array !== Int32Array
        expect(added).toBe(isTaken ? numbers.length : undefined)
        expect(states.countOf(1)).toBe(isTaken ? numbers.length : 0)
        expect(partsOf(states, 1)).toBe(isTaken ? exactSum(numbers) : 0n)
      }),
      { numRuns: 100 },
    )
  })

  test('sums of whole numbers by group', () => {
    fc.assert(
      fc.property(grouped, ({ shape, groupCount, seeds }) => {
        const { stored } = columnOf(array, { ...shape, divisor: 1 })
        const groups = groupsOf(stored.integers.length, groupCount, seeds)
        const states = sumsOf(groupCount)
        for (let group = 0; group < groupCount; group++) states.addPart(group, 0.5, 1)
        const isTaken = sumWholeByGroup(stored, groups, states)
        expect(isTaken).toBe(states.groupCount * 16 <= groups.length && shape.base < 2 ** 50)
        for (let group = 0; group < groupCount; group++) {
          const numbers = isTaken ? numbersOf(stored, groups, group) : []
          expect(states.countOf(group)).toBe(1 + numbers.length)
          expect(partsOf(states, group)).toBe(exactSum([0.5, ...numbers]))
        }
      }),
      { numRuns: 300 },
    )
  })

  test('sums of decimals by group, of columns one after the other', () => {
    const columns = fc.array(grouped, { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(columns, fc.constantFrom(5, 90, 300), (shapes, groupCount) => {
        beginStates()
        beginBatch()
        const states = sumsOf(groupCount)
        const sums = new DecimalSums()
        const expected = Array.from({ length: groupCount }, () => [0.5])
        for (let group = 0; group < groupCount; group++) states.addPart(group, 0.5, 1)
        for (const { shape, seeds } of shapes) {
          const integers = array.from(shape.values)
          const stored = { integers, base: shape.base, divisor: shape.divisor }
          const groups = groupsOf(integers.length, groupCount, seeds)
          const isTaken = sums.add(stored, groups, states)
          const most = Math.max(...integers.map((integer) => Math.abs(integer)))
          expect(isTaken).toBe(shape.base < 2 ** 25 && most < 2 ** 25)
          if (!isTaken) continue
          for (let group = 0; group < groupCount; group++) {
            expected[group]!.push(...numbersOf(stored, groups, group))
          }
        }
        sums.flush(states)
        // There is nothing left to be settled.
        sums.flush(states)
        for (let group = 0; group < groupCount; group++) {
          expect(states.countOf(group)).toBe(expected[group]!.length)
          expect(partsOf(states, group)).toBe(exactSum(expected[group]!))
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

test('decimals of many groups are left to others', () => {
  beginStates()
  beginBatch()
  const states = sumsOf(8192)
  const stored = { integers: new Int16Array(8192).fill(1), base: 0, divisor: 10 }
  expect(new DecimalSums().add(stored, new Int32Array(8192), states)).toBe(false)
})

test('sums of decimals are settled before their counts have no room for more rows', () => {
  beginStates()
  const states = sumsOf(2)
  const sums = new DecimalSums()
  const integers = new Int16Array(8192).fill(32_767)
  const groups = new Int32Array(8192)
  const batches = 40
  for (let batch = 0; batch < batches; batch++) {
    beginBatch()
    expect(sums.add({ integers, base: 2 ** 25 - 1, divisor: 1000 }, groups, states)).toBe(true)
  }
  sums.flush(states)
  const number = (32_767 + 2 ** 25 - 1) / 1000
  expect(states.countOf(0)).toBe(8192 * batches)
  expect(partsOf(states, 0)).toBe(fixed(number) * BigInt(8192 * batches))
  expect(states.countOf(1)).toBe(0)
})
