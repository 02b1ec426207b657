import fc from 'fast-check'
import { expect, it } from 'vitest'
import { beginBatch, endBatches, newCodes, newText } from '../../src/kernel/arena.ts'
import { hashText, hashTexts, pickTexts, singleTexts } from '../../src/kernel/texts.ts'
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

/** The same texts in the kernel arena. */
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

it('gives invalid texts no hash', () => {
  const texts = textsOf(['a', '', 'b'])
  const hashes = new Int32Array(6)
  hashTexts(texts, 0, 3, Uint8Array.of(1, 0, 1), hashes)
  const expected = oneByOne(texts, 0, 3)
  expect(hashes).toEqual(
    Int32Array.of(expected[0]!, expected[1]!, 0, 0, expected[4]!, expected[5]!),
  )
})

it('picks texts of some rows, wherever they lie', () => {
  const unit = fc.constantFrom('a', 'é', '漢')
  const lists = fc.array(fc.tuple(fc.string({ unit, maxLength: 50 }), fc.boolean()), {
    maxLength: 40,
  })
  fc.assert(
    fc.property(lists, fc.nat(3), fc.boolean(), (list, first, isNear) => {
      const given = textsOf(['x', 'yy', 'z', ...list.map(([text]) => text)].slice(3 - first))
      const rows = Int32Array.from(list.flatMap(([, isWanted], i) => (isWanted ? [i] : [])))
      const wanted = Buffer.from(
        list.flatMap(([text, isWanted]) => (isWanted ? text : '')).join(''),
      )
      const pick = (texts: Texts, out: Buffer, ends: Int32Array) => {
        pickTexts(texts, first, rows, out, ends)
        expect(Buffer.from(out)).toEqual(wanted)
        expect(ends.at(-1) ?? 0).toBe(wanted.length)
      }
      if (!isNear) {
        pick(given, Buffer.alloc(wanted.length), new Int32Array(rows.length))
        return
      }
      beginBatch()
      try {
        pick(nearby(given), newText(wanted.length), newCodes(rows.length))
        pick(given, newText(wanted.length), newCodes(rows.length))
      } finally {
        endBatches()
      }
    }),
  )
})

it('reads lists of one text each as JSON would', () => {
  const unit = fc.constantFrom('a', 'é', '"', '\\', ']', ',')
  const plain = fc.string({ unit: fc.constantFrom('a', 'é', ']', ','), maxLength: 30 })
  const odd = fc.array(fc.string({ unit, maxLength: 5 }), { maxLength: 2 })
  const list = fc.oneof(
    { weight: 60, arbitrary: plain.map((text) => [text]) },
    { weight: 1, arbitrary: odd },
    { weight: 1, arbitrary: fc.constant([1]) },
  )
  const rows = fc.array(fc.tuple(list, fc.boolean()), { maxLength: 40 })
  fc.assert(
    fc.property(rows, fc.boolean(), (given, isInBatch) => {
      const texts = textsOf(['skipped', ...given.map(([value]) => JSON.stringify(value))])
      const valid = Uint8Array.from(given, ([, isValid]) => (isValid ? 1 : 0))
      const isPlain = given.every(
        ([[first, ...others], isValid]) =>
          !isValid || (typeof first === 'string' && others.length === 0 && !/["\\]/.test(first)),
      )
      if (isInBatch) beginBatch()
      try {
        const found = singleTexts(texts, 1, valid)
        expect(found !== undefined).toBe(isPlain)
        if (!found) return
        const { bytes, offsets } = found
        const read = given.map((_, i) => bytes.toString('utf8', offsets[i], offsets[i + 1]))
        expect(read).toEqual(given.map(([[first], isValid]) => (isValid ? first : '')))
      } finally {
        if (isInBatch) endBatches()
      }
    }),
  )
})

it('reads more and longer lists than a loop takes at once', () => {
  const values = Array.from({ length: 20_000 }, (_, i) => `${'x'.repeat(i % 400)}${i}`)
  const found = singleTexts(
    textsOf(values.map((value) => JSON.stringify([value]))),
    0,
    new Uint8Array(values.length).fill(1),
  )!
  const read = values.map((_, i) =>
    found.bytes.toString('utf8', found.offsets[i], found.offsets[i + 1]),
  )
  expect(read).toEqual(values)
})
