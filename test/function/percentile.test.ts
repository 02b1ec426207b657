import fc from 'fast-check'
import { expect, test } from 'vitest'
import { percentileOf, percentileOfParts } from '../../src/function/percentile.ts'

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
