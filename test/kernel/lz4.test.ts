/** What lz4-napi or our loop has compressed, both decompress to the same bytes, whole and in part. */
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { compressSync, uncompressSync } from 'lz4-napi'
import { expect, test } from 'vitest'
import { ByteWriter } from '../../src/json/byte-writer.ts'
import { decompressLz4, lz4Compressor } from '../../src/kernel/lz4.ts'

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

function compressed(plain: Buffer, dictionary: Buffer | undefined): Buffer {
  const out = new ByteWriter(0)
  expect(lz4Compressor(dictionary)(plain, out)).toBe(out.length)
  return out.view()
}

test('the bytes are those that lz4-napi has compressed, with a dictionary and without', () => {
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

test('what our loop has compressed both read, with a dictionary and without', () => {
  fc.assert(
    fc.property(text, text, (plain, before) => {
      for (const dictionary of [undefined, before]) {
        const block = compressed(plain, dictionary)
        expect(decompressLz4(block, plain.length, dictionary)?.equals(plain)).toBe(true)
        if (plain.length > 0) expect(uncompressSync(block, dictionary).equals(plain)).toBe(true)
      }
    }),
  )
})

test('blocks of every length up to the longest that the loop takes, and beyond, come back', () => {
  const random = randomBytes(70_000)
  const alike = Buffer.from(
    Array.from(random.subarray(0, 10_000), (byte) => `${byte % 7} `).join(''),
  )
  for (const source of [
    random,
    Buffer.alloc(70_000),
    Buffer.concat([alike, alike, alike, alike]),
  ]) {
    const around = [0, 255, 270, 4096, 65_535 - 1000, 65_535, 65_536]
    for (const length of around.flatMap((middle) =>
      Array.from({ length: 40 }, (_, i) => middle + i - 20),
    )) {
      if (length < 1 || length > source.length) continue
      const plain = source.subarray(0, length)
      for (const dictionary of [undefined, source.subarray(source.length - 1000)]) {
        const block = compressed(plain, dictionary)
        expect(uncompressSync(block, dictionary).equals(plain), `${length} bytes`).toBe(true)
        expect(block.length).toBeLessThan(length + length / 255 + 24)
      }
    }
  }
})

test('a block is not much larger than that of lz4-napi, and refers to its dictionary', () => {
  const lines = Array.from({ length: 400 }, (_, i) => `{"name":"span ${i}","score":0.${i * 7919}}`)
  const plain = Buffer.from(lines.join(','))
  for (const dictionary of [undefined, plain.subarray(0, 4096)]) {
    const usual = compressSync(plain, dictionary).length
    expect(compressed(plain, dictionary).length).toBeLessThan(usual * 1.05)
  }
  expect(compressed(plain, plain).length).toBeLessThan(plain.length / 50)
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
