import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { beginBatch, endBatches } from '../../src/kernel/arena.ts'
import { narrowCodes, narrowNumbers } from '../../src/kernel/widen.ts'
import { asIntegers, narrowestCodes } from '../../src/storage/segment/narrow-numbers.ts'

const none = Number.NaN

/** What comes back of numbers, the width that they were stored in, and what they are counted from. */
function narrowed(numbers: readonly number[]) {
  const whole = asIntegers(Float64Array.from(numbers))
  if (!whole) return undefined
  const { integers, scale } = whole
  const opened = narrowNumbers(integers, scale)
  return {
    width: integers.BYTES_PER_ELEMENT,
    scale,
    wide: Array.from(opened.between(0, numbers.length)),
    oneByOne: numbers.map((_, row) => opened.at(row)),
  }
}

describe('numbers as narrow whole ones', () => {
  it('take as few bytes as their span needs', () => {
    const plain = { base: 0, divisor: 1 }
    expect(narrowed([1, none, -127, 127])).toMatchObject({ width: 1, scale: plain })
    expect(narrowed([1, none, 128])).toMatchObject({ width: 1, scale: { base: 128, divisor: 1 } })
    expect(narrowed([-128, 128])).toMatchObject({ width: 2, scale: plain })
    expect(narrowed([0, 70_000])).toMatchObject({ width: 4, scale: plain })
  })

  it('count times from the first on, and decimals in their last place', () => {
    const first = Date.UTC(2026, 0, 1)
    expect(narrowed([first, first + 86_400_000, none])).toMatchObject({
      width: 4,
      wide: [first, first + 86_400_000, none],
    })
    expect(narrowed([0.1, 0.25, none, -3])).toEqual({
      width: 2,
      scale: { base: 0, divisor: 100 },
      wide: [0.1, 0.25, none, -3],
      oneByOne: [0.1, 0.25, none, -3],
    })
  })

  it('stay doubles where anything would be lost, or nothing gained', () => {
    for (const numbers of [
      [-0, 1],
      [0, 2 ** 33],
      [Math.PI],
      [1e300],
      [1e-10],
      [2 ** 60, 2 ** 60],
    ]) {
      expect(narrowed(numbers)).toBeUndefined()
    }
    expect(narrowed([none, none])).toBeUndefined()
  })

  it('come back to the bit, whatever they are, in and out of batches', () => {
    const divisors = fc.constantFrom(1, 10, 100, 1000, 1e6, 1e9)
    const spans = fc.constantFrom(100, 254, 255, 30_000, 65_534, 65_535, 1e6, 2 ** 32 - 2, 2 ** 32)
    const column = fc
      .tuple(divisors, spans, fc.integer({ min: -(2 ** 45), max: 2 ** 45 }), fc.boolean())
      .chain(([divisor, span, base, isNear]) => {
        const whole = fc.integer({ min: 0, max: span })
        const number = whole.map((part) => (part + (isNear ? 0 : base)) / divisor)
        const any = fc.oneof(
          { weight: 20, arbitrary: number },
          { weight: 2, arbitrary: fc.constant(none) },
        )
        return fc.array(any, { minLength: 1, maxLength: 70 })
      })
    const rare = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), {
      minLength: 1,
      maxLength: 3,
    })
    fc.assert(
      fc.property(fc.oneof(column, rare), fc.boolean(), (numbers, isInBatch) => {
        if (isInBatch) beginBatch()
        const found = narrowed(numbers)
        endBatches()
        if (!found) return
        expect(found.wide).toEqual(numbers)
        expect(found.oneByOne).toEqual(numbers)
      }),
      { numRuns: 500 },
    )
  })

  it('are widened in any part, however long', () => {
    const numbers = Float64Array.from({ length: 20_000 }, (_, row) => (row % 7 ? row / 10 : none))
    const { integers, scale } = asIntegers(numbers)!
    const opened = narrowNumbers(integers, scale)
    for (const [from, count] of [
      [0, 20_000],
      [8191, 8193],
      [19_999, 1],
      [5, 0],
    ] as const) {
      expect(opened.between(from, count)).toEqual(numbers.slice(from, from + count))
    }
  })

  it('are widened once for a batch', () => {
    const { integers, scale } = asIntegers(Float64Array.of(1, 2, 3))!
    const opened = narrowNumbers(integers, scale)
    beginBatch()
    const first = opened.between(0, 2)
    expect(opened.between(0, 2)).toBe(first)
    expect(opened.between(1, 2)).toEqual(Float64Array.of(2, 3))
    beginBatch()
    expect(Array.from(opened.between(1, 2))).toEqual([2, 3])
    endBatches()
  })
})

describe('codes', () => {
  it('take one byte, two or four, by the size of their dictionary', () => {
    for (const [size, width] of [
      [1, 1],
      [128, 1],
      [129, 2],
      [32_768, 2],
      [32_769, 4],
    ] as const) {
      const codes = Int32Array.from({ length: 100 }, (_, row) =>
        row % 5 ? size - 1 - (row % size) : -1,
      )
      const narrow = narrowestCodes(codes, size)
      expect(narrow.BYTES_PER_ELEMENT).toBe(width)
      if (narrow instanceof Int32Array) continue
      const opened = narrowCodes(narrow)
      expect(opened.between(3, 90)).toEqual(codes.slice(3, 93))
      expect(Array.from(codes, (_, row) => opened.at(row))).toEqual(Array.from(codes))
    }
  })
})
