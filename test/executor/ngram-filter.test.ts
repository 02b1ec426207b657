/** A filter of the parts of texts leaves out no text that is there, and most that are not. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blocksWithNgrams, noteMisled } from '../../src/executor/text/dictionary-filters.ts'
import { NgramFilter } from '../../src/executor/text/ngram-filter.ts'
import { PagedBytes } from '../../src/storage/segment/checked-pages.ts'
import { gramBytesOf, openGrams, writeGrams } from '../../src/storage/segment/gram-writer.ts'
import { foldedForSearch } from '../../src/type/fold-accents.ts'
import { gramsOf } from '../../src/vector/gram-index.ts'
import { randomSeed } from '../support/random-seed.ts'
import { textsOf } from '../support/texts.ts'

const word = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ maxLength: 8, unit: 'grapheme' }),
  fc.constantFrom('Straße', 'naïve', 'NAI\u0308VE', 'ОШИБКА', '错误检索', 'が', 'か\u3099', '😀'),
)

const stretch = fc.tuple(fc.nat(), fc.nat(20))

function partOf(text: string, [from, length]: readonly [number, number]): string {
  const characters = Array.from(text)
  const start = characters.length === 0 ? 0 : from % characters.length
  return characters.slice(start, start + length).join('')
}

test(`has every part of its text, seed ${randomSeed}`, () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), stretch, (words, place) => {
      const folded = words.map(foldedForSearch).join('\n')
      const part = partOf(folded, place)
      fc.pre(!/\p{Surrogate}/u.test(part))
      expect(NgramFilter.of(folded).mayHaveAll(gramsOf(part))).toBe(true)
    }),
    { seed: randomSeed },
  )
})

test('has hardly a part that is nowhere in its text', () => {
  const filter = NgramFilter.of(
    Array.from({ length: 5000 }, (_, n) => `order ${n * 37}`).join('\n'),
  )
  const absent = Array.from({ length: 1000 }, (_, n) => `zugzwang ${n}`)
  expect(absent.filter((text) => filter.mayHaveAll(gramsOf(text))).length).toBeLessThan(10)
})

test('blocks of a dictionary that have misled searches are asked their filters, and tell what they have', () => {
  const texts = Array.from({ length: 4000 }, (_, n) => `user-${n * 7919} of ${(n * 31) % 977}`)
  const dictionary = { ...textsOf(texts), identity: {} }
  const { bytes, ...shape } = writeGrams(dictionary, 'text')
  const damaged = () => new Error('damaged')
  const paged = new PagedBytes(bytes, gramBytesOf(shape, texts.length), damaged)
  const index = openGrams(paged, shape, texts.length)
  const absent = Array.from({ length: 20_000 }, (_, n) => gramsOf(`x${n.toString(36)}yz`))
  const misleading = () =>
    absent.reduce((sum, grams) => sum + blocksWithNgrams(index, grams, dictionary).length, 0)
  const before = misleading()
  expect(before).toBeGreaterThan(100)
  const { blockTexts } = shape
  for (let block = 0; block * blockTexts < texts.length; block++) {
    for (let i = 0; i < 8; i++) noteMisled(block, blockTexts, dictionary, 'text')
  }
  expect(misleading()).toBeLessThan(before / 4)
  for (const [n, text] of texts.entries()) {
    const blocks = blocksWithNgrams(index, gramsOf(text), dictionary)
    expect(blocks).toContain(Math.floor(n / blockTexts))
  }
})
