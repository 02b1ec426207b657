/** Quotients by a reciprocal are those of a division, bit by bit. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { batchBits, reciprocalOf, summableBits } from '../../src/kernel/reciprocal.ts'

const divisors = [1, 3, 8, 10, 100, 1000, 10_000, 100_000, 1_000_000, 100_000_000]

/** Whole numbers of so many bits, often the greatest of them. */
function wholeNumbers(bits: number) {
  const most = 2 ** bits
  return fc.oneof(
    fc.integer({ min: -most, max: most }),
    fc.integer({ min: 0, max: Math.min(most, 1000) }).map((less) => most - less),
  )
}

test.each(divisors)('of numbers by %i', (divisor) => {
  for (const bits of [7, 16, 20, 27, 31]) {
    const reciprocal = reciprocalOf(divisor, bits)!
    fc.assert(
      fc.property(fc.array(wholeNumbers(bits), { minLength: 200, maxLength: 200 }), (given) => {
        for (const whole of given) {
          const { high, low } = reciprocal
          expect(whole * high + whole * low).toBe(whole / divisor)
        }
      }),
    )
  }
})

test('of all whole numbers of 20 bits by thousandths', () => {
  const { high, low } = reciprocalOf(1000, 20)!
  let different = 0
  for (let whole = -(2 ** 20); whole <= 2 ** 20; whole++) {
    if (whole * high + whole * low !== whole / 1000) different++
  }
  expect(different).toBe(0)
})

test.each([
  ['high', batchBits],
  ['high and mid', summableBits],
])('a number is exactly its whole number times %s, and its rest', (of, bits) => {
  for (const divisor of [...divisors, 1e9]) {
    const { high, mid, low, highParts, parts } = reciprocalOf(divisor, bits)!
    const isHigh = of === 'high'
    const exact = (number: number) => BigInt(number * 2 ** 120)
    const factor = exact(high) + exact(isHigh ? 0 : mid)
    const [first, second] = isHigh ? highParts : parts
    expect(exact(first) + exact(second)).toBe(factor)
    fc.assert(
      fc.property(wholeNumbers(bits), (whole) => {
        const most = whole * high
        const rest = most + whole * low - most - (isHigh ? 0 : whole * mid)
        expect(exact(rest) + factor * BigInt(whole)).toBe(exact(whole / divisor))
        // As many as a batch has, or the upper or the lower half of a sum.
        const sum = isHigh ? whole * 8192 - 1 : whole
        for (const part of [first, second]) {
          expect(exact(sum * part)).toBe(exact(part) * BigInt(sum))
        }
      }),
    )
  }
})

test('there is none where quotients may be off', () => {
  expect(reciprocalOf(1e9, 32)).toBeUndefined()
  expect(reciprocalOf(2 ** 30 - 1, summableBits)).toBeUndefined()
})
