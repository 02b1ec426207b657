/** Quotients by a reciprocal are those of a division, bit by bit. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reciprocalOf, summableReciprocal } from '../../src/kernel/reciprocal.ts'

const divisors = [1, 3, 8, 10, 100, 1000, 10_000, 100_000, 1_000_000]

/** Whole numbers of so many bits, often the greatest of them. */
function wholeNumbers(bits: number) {
  const most = 2 ** bits
  return fc.oneof(
    fc.integer({ min: -most, max: most }),
    fc.integer({ min: 0, max: 1000 }).map((less) => most - less),
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

test('products with halves of the first part lose nothing', () => {
  for (const divisor of divisors) {
    const { high, halves } = summableReciprocal(divisor)!
    const [first, second] = halves
    expect(first + second).toBe(high)
    const sum = 2 ** 33 - 1
    const exact = (product: number) => BigInt(product * 2 ** 80)
    expect(exact(first * sum)).toBe(exact(first) * BigInt(sum))
    expect(exact(second * sum)).toBe(exact(second) * BigInt(sum))
  }
})

test('there is none where quotients may be off', () => {
  expect(reciprocalOf(2 ** 20, 16)).toBeUndefined()
  expect(reciprocalOf(1_000_000, 32)).toBeUndefined()
  expect(reciprocalOf(10_000_000, 16)).toBeUndefined()
})
