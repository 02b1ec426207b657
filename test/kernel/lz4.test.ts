/** Blocks that lz4-napi has compressed are decompressed to the same bytes, whole and in part. */
import fc from 'fast-check'
import { compressSync } from 'lz4-napi'
import { expect, test } from 'vitest'
import { decompressLz4 } from '../../src/kernel/lz4.ts'

/** Runs of one byte, words that come again, and what never does. */
const part = fc.oneof(
  fc.tuple(
    fc.constantFrom('a', 'bc', 'a word ', '0123456789abcdef'),
    fc.integer({ max: 80, min: 1 }),
  ),
  fc.tuple(fc.string({ unit: 'binary', maxLength: 300 }), fc.constant(1)),
)
const text = fc
  .array(part, { maxLength: 30 })
  .map((parts) => Buffer.from(parts.map(([word, times]) => word.repeat(times)).join('')))

test('the bytes are those that were compressed, with a dictionary and without', () => {
  fc.assert(
    fc.property(text, text, fc.double({ min: 0, max: 1, noNaN: true }), (plain, before, share) => {
      for (const dictionary of [undefined, before]) {
        const block = compressSync(plain, dictionary)
        for (const length of [plain.length, Math.floor(plain.length * share)]) {
          const found = decompressLz4(block, length, dictionary)
          expect(found?.equals(plain.subarray(0, length))).toBe(true)
        }
      }
    }),
  )
})

test('what is too long for one loop is the same', () => {
  const plain = Buffer.from('many words, '.repeat(100_000))
  const dictionary = plain.subarray(0, 1000)
  const found = decompressLz4(compressSync(plain, dictionary), 1_000_000, dictionary)
  expect(found?.equals(plain.subarray(0, 1_000_000))).toBe(true)
})

test('a damaged block gives other bytes or none', () => {
  const plain = Buffer.from('some words and more words, '.repeat(200))
  const block = compressSync(plain)
  expect(decompressLz4(block, plain.length + 1)).toBeUndefined()
  expect(decompressLz4(block.subarray(0, 3), 0)).toBeUndefined()
  expect(decompressLz4(block.subarray(0, block.length / 2), plain.length)).toBeUndefined()
  for (let at = 4; at < block.length; at++) {
    for (const value of [0, 0x0f, 0xf0, 0xff]) {
      const damaged = Buffer.from(block)
      damaged[at] = value
      const found = decompressLz4(damaged, plain.length)
      expect(found === undefined || found.length === plain.length).toBe(true)
    }
  }
})
