import fc from 'fast-check'
import { expect, it } from 'vitest'
import { beginBatch, endBatches, newCodes, newText } from '../../src/kernel/memory.ts'
import { hashText, hashTexts } from '../../src/kernel/texts.ts'
import type { Texts } from '../../src/vector/column.ts'

function textsOf(values: readonly string[]): Texts {
  const parts = values.map((value) => Buffer.from(value))
  const offsets = new Int32Array(parts.length + 1)
  for (const [i, part] of parts.entries()) offsets[i + 1] = offsets[i]! + part.length
  return { bytes: Buffer.concat(parts), offsets }
}

function oneByOne(texts: Texts, first: number, count: number): Int32Array {
  const hashes = new Int32Array(2 * count)
  for (let i = 0; i < count; i++) hashText(texts, first + i, hashes, i)
  return hashes
}

/** The same texts in the memory of kernels. */
function nearby({ bytes, offsets }: Texts): Texts {
  const near = { bytes: newText(bytes.length), offsets: newCodes(offsets.length) }
  bytes.copy(near.bytes)
  near.offsets.set(offsets)
  return near
}

it('hashes many texts as it does each, wherever they lie', () => {
  const unit = fc.constantFrom('a', 'b', 'é', '\0', '漢')
  const values = fc.array(fc.string({ unit, maxLength: 40 }), { minLength: 1, maxLength: 50 })
  fc.assert(
    fc.property(values, fc.nat(49), (list, from) => {
      const first = Math.min(from, list.length)
      const count = list.length - first
      const texts = textsOf(list)
      const expected = oneByOne(texts, first, count)
      const hashes = new Int32Array(2 * count)
      hashTexts(texts, first, count, undefined, hashes)
      expect(hashes).toEqual(expected)
      beginBatch()
      try {
        hashTexts(nearby(texts), first, count, undefined, hashes.fill(7))
      } finally {
        endBatches()
      }
      expect(hashes).toEqual(expected)
    }),
  )
})

it('hashes texts that are more, or longer, than a loop takes at once', () => {
  const many = textsOf(Array.from({ length: 20_000 }, (_, i) => `text ${i}`))
  const long = textsOf(['', 'x'.repeat(3_000_000), 'y', 'z'.repeat(300_000), 'z'.repeat(300_001)])
  for (const texts of [many, long]) {
    const count = texts.offsets.length - 1
    const hashes = new Int32Array(2 * count)
    hashTexts(texts, 0, count, undefined, hashes)
    expect(hashes).toEqual(oneByOne(texts, 0, count))
  }
})

it('gives no two of a million like texts the same hash', () => {
  const texts = textsOf(Array.from({ length: 1_000_000 }, (_, i) => `span-${i.toString(16)}`))
  const hashes = new Int32Array(2_000_000)
  hashTexts(texts, 0, 1_000_000, undefined, hashes)
  expect(new Set(new BigInt64Array(hashes.buffer)).size).toBe(1_000_000)
})
