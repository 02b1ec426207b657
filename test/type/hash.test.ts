import { describe, expect, it } from 'vitest'
import { rowFraction, textFraction } from '../../src/type/hash.ts'
import { formatPaginationKey } from '../../src/type/transaction.ts'

describe('fractions of hashes', () => {
  it('are the same for a pagination key and its numbers', () => {
    for (const key of [
      { transaction: 0, index: 0 },
      { transaction: 2 ** 48 - 1, index: 65_535 },
      { transaction: 112_345_678_901_234, index: 7 },
    ]) {
      const fraction = rowFraction(key.transaction, key.index, 5)
      expect(textFraction(formatPaginationKey(key), 5)).toBe(fraction)
    }
  })

  it('never change: samples are drawn by them', () => {
    expect(textFraction('a', 0)).toBe(0.33775114699305187)
    expect(rowFraction(1, 2, 3)).toBe(0.5209446469991786)
  })

  it.each([
    ['texts', (i: number, seed: number) => textFraction(`row ${i}`, seed)],
    ['rows of one request', (i: number, seed: number) => rowFraction(2 ** 40, i, seed)],
    ['rows of many requests', (i: number, seed: number) => rowFraction(2 ** 40 + i, 0, seed)],
  ])('are even among %s, and another choice for another seed', (_, fractionOf) => {
    const count = 20_000
    const buckets = new Int32Array(10)
    let both = 0
    for (let i = 0; i < count; i++) {
      const [first, second] = [fractionOf(i, 1), fractionOf(i, 2)]
      expect(first).toBeGreaterThanOrEqual(0)
      expect(first).toBeLessThan(1)
      buckets[Math.floor(first * 10)]!++
      if (first < 0.1 && second < 0.1) both++
    }
    for (const size of buckets) expect(Math.abs(size - count / 10)).toBeLessThan(250)
    expect(Math.abs(both - count / 100)).toBeLessThan(60)
  })
})
