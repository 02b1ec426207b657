import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  numbersOfCounts,
  percentileOf,
  percentileOfCounts,
  percentileOfParts,
} from '../../src/function/percentile.ts'
import { blockCounts, sumBlocks } from '../../src/kernel/number-counts.ts'

/** Numbers as they come in data: in order, with few values, at random, or in a wave. */
const shapes: ((i: number) => number)[] = [
  (i) => i,
  (i) => -i,
  (i) => i % 3,
  () => 7,
  (i) => Math.sin(i * 12.9898) * 43758.5453,
  (i) => (i % 11 === 0 ? i : -1),
]

test('parts give what all of their numbers give, however they were divided and ordered', () => {
  const given = fc.record({
    shape: fc.constantFrom(...shapes),
    sizes: fc.array(fc.constantFrom(0, 1, 500, 9000, 40_000), { maxLength: 4 }),
    share: fc.oneof(fc.constantFrom(0, 0.5, 0.95, 1), fc.double({ min: 0, max: 1, noNaN: true })),
  })
  fc.assert(
    fc.property(given, ({ shape, sizes, share }) => {
      let next = 0
      const parts = sizes.map((size) => Float64Array.from({ length: size }, () => shape(next++)))
      const all = Float64Array.from(parts.flatMap((part) => [...part]))
      expect(percentileOfParts(parts, share)).toBe(percentileOf(all, share))
    }),
    { numRuns: 60 },
  )
})

test('counted numbers give what all of them give one by one', () => {
  const part = fc.record({
    first: fc.integer({ min: -3, max: 3 }).map((block) => block * blockCounts),
    size: fc.integer({ min: 0, max: 3 }).map((blocks) => blocks * blockCounts),
    counts: fc.array(fc.tuple(fc.nat(), fc.constantFrom<number>(1, 2, 30)), { maxLength: 40 }),
  })
  const given = fc.record({
    divisor: fc.constantFrom(1, 10, 1000),
    parts: fc.array(part, { maxLength: 4 }),
    share: fc.oneof(fc.constantFrom(0, 0.5, 0.95, 1), fc.double({ min: 0, max: 1, noNaN: true })),
  })
  fc.assert(
    fc.property(given, ({ divisor, parts, share }) => {
      const counted = parts.map(({ first, size, counts: some }) => {
        const counts = new Int32Array(size)
        for (const [at, count] of some) if (size > 0) counts[at % size] = count
        const blocks = new Int32Array(size / blockCounts)
        sumBlocks(counts, blocks)
        return { divisor, first, counts, blocks }
      })
      const all = Float64Array.from(counted.flatMap((each) => [...numbersOfCounts(each)]))
      const inTurn = counted.flatMap(({ first, counts }) =>
        [...counts].flatMap((count, i) => new Array<number>(count).fill((first + i) / divisor)),
      )
      expect([...all]).toEqual(inTurn)
      expect(percentileOfCounts(counted, share)).toBe(percentileOf(all, share))
    }),
  )
})
