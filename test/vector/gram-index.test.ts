/** The index of the parts of texts: whatever is found in a text is found in its block. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PagedBytes } from '../../src/storage/segment/checked-pages.ts'
import {
  blockTextsOf,
  type GramShape,
  gramBytesOf,
  openGrams,
  writeGrams,
} from '../../src/storage/segment/gram-writer.ts'
import { foldText } from '../../src/type/fold-text.ts'
import { textOf } from '../../src/type/text.ts'
import { blocksWithGrams, gramsOf } from '../../src/vector/gram-index.ts'
import { textsOf } from '../support/texts.ts'

/** Characters whose cases differ in length, in number or by what stands beside them. */
const nasty = [...'aAkK\u212asSſiIİı\u0307ΣσςßẞµμÅ\u212bΩ\u2126ǅǆ日本語한글é\u0301𐐀𐐨😀 .,1']
const nastyText = fc
  .array(fc.constantFrom(...nasty), { maxLength: 12 })
  .map((characters) => characters.join(''))

describe('folding', () => {
  it('goes character by character, and takes a text and its lower case for the same', () => {
    fc.assert(
      fc.property(nastyText, nastyText, (a, b) => {
        expect(foldText(a + b)).toBe(foldText(a) + foldText(b))
        expect(foldText(a.toLowerCase())).toBe(foldText(a))
      }),
      { numRuns: 2000 },
    )
  })

  it('does so for every character, at the end of a word and within one', () => {
    for (let codePoint = 0; codePoint < 0x110000; codePoint++) {
      if (codePoint >= 0xd800 && codePoint < 0xe000) continue
      const character = String.fromCodePoint(codePoint)
      const folded = foldText(character)
      if (foldText(`a${character}a`) === `a${folded}a` && foldText(folded) === folded) continue
      expect.fail(`U+${codePoint.toString(16)} folds differently within a word`)
    }
  })
})

describe('a text is found by any part of it', () => {
  const many = fc.array(nastyText, { minLength: 1, maxLength: 200 })

  it('in any case', () => {
    fc.assert(
      fc.property(many, fc.nat(), fc.nat(8), fc.boolean(), (list, at, skipped, raised) => {
        const index = indexOf(list, 'text')
        const text = list[at % list.length]!
        const part = [...(raised ? text.toUpperCase() : text)].slice(skipped).join('')
        for (const [i, other] of list.entries()) {
          const holds = other.includes(part) || other.toLowerCase().includes(part.toLowerCase())
          if (holds) expect(mayHold(index, i, part)).toBe(true)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('within the strings and numbers of JSON, however they are escaped', () => {
    const scalar = fc.oneof(nastyText, fc.double({ noNaN: true }), fc.integer(), fc.boolean())
    const escapes = fc.constantFrom('plain', 'ascii', 'all')
    fc.assert(
      fc.property(fc.array(fc.array(scalar), { minLength: 1 }), escapes, (lists, form) => {
        const index = indexOf(
          lists.map((list) => written(list, form)),
          'json',
        )
        for (const [i, list] of lists.entries()) {
          for (const item of list) {
            for (const part of textOf(item).split(/["\\]|[^ -\u{10ffff}]/u)) {
              expect(mayHold(index, i, part)).toBe(true)
            }
          }
        }
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    ['[1e3]', '1000'],
    ['[0.00000012345]', '1.2345e-7'],
    ['["\\u0041bcd"]', 'abcd'],
    ['["\\ud83d\\ude00abc"]', '😀abc'],
    ['["a\\/bc"]', 'a/bc'],
    ['["line\\u000Anext"]', 'next'],
    ['["x\\u001Fyzab"]', 'yzab'],
    ['["x\\ud800yz"]', '\\ud800yz'],
    ['{"name": 12345678901234567890}', '12345678901234567890'],
  ])('JSON %s is searched for %s', (json, part) => {
    expect(mayHold(indexOf([json], 'json'), 0, part)).toBe(true)
  })
})

it('leaves out blocks that have not all of the parts', () => {
  const index = indexOf(
    Array.from({ length: 4096 }, (_, i) => `a text about number ${i} and nothing else`),
    'text',
  )
  const blocks = blocksWithGrams(index, gramsOf('NUMBER 2077'))
  expect(blocks).toContain(Math.floor(2077 / index.blockTexts))
  expect(blocks!.length).toBeLessThan(4096 / index.blockTexts / 8)
  expect(blocksWithGrams(index, gramsOf('another number'))).toBeUndefined()
})

describe('of folded words', () => {
  it('finds whatever is in one of them', () => {
    const word = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), maxLength: 14 })
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 300 }), fc.nat(), (words, at) => {
        const index = indexOf(words, 'folded')
        const row = at % words.length
        for (let from = 0; from < words[row]!.length; from++) {
          expect(mayHold(index, row, words[row]!.slice(from, from + 6))).toBe(true)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('knows that a part is in none, though their blocks are full', () => {
    const words = Array.from({ length: 20_000 }, (_, i) => (i * 2_654_435_761).toString(16))
    const texts = textsOf(words)
    const { bytes, ...shape } = writeGrams(texts, 'folded')
    expect(shape.allBits).toBeGreaterThan(shape.hashBits)
    const index = openGrams(opened(bytes, shape, words.length), shape, words.length)
    const others = Array.from({ length: 300 }, (_, i) => (i * 7919 + 46_656).toString(36))
      .map((part) => `z${part}z`)
      .filter((part) => part.length >= 5)
    const found = others.filter((part) => blocksWithGrams(index, gramsOf(part)))
    expect(found.length).toBeLessThan(others.length / 50)
    for (let row = 0; row < words.length; row += 37) {
      expect(mayHold(index, row, words[row]!)).toBe(true)
    }
  })

  it('has no such set when all parts are there', () => {
    const random = (i: number) => (Math.imul(i + 1, 0x9e3779b1) >>> 0).toString(36)
    const words = Array.from(
      { length: 150_000 },
      (_, i) => random(i) + random(i + 7) + random(i * 3),
    )
    expect(writeGrams(textsOf(words), 'folded').allBits).toBeUndefined()
  })
})

it('tells a damaged page from a whole one when it is read', () => {
  const texts = textsOf(['something to damage'])
  const { bytes, ...shape } = writeGrams(texts, 'text')
  for (let i = 0; i < bytes.length; i += 8) bytes[i]! ^= 1
  const index = openGrams(opened(bytes, shape, 1), shape, 1)
  expect(() => blocksWithGrams(index, gramsOf('thing'))).toThrow('damaged')
})

function indexOf(list: readonly string[], content: 'text' | 'json' | 'folded') {
  const texts = textsOf(list)
  const { bytes, ...shape } = writeGrams(texts, content, blockTextsOf(texts, 2000))
  return openGrams(opened(bytes, shape, list.length), shape, list.length)
}

function opened(bytes: Uint8Array, shape: GramShape, textCount: number): PagedBytes {
  return new PagedBytes(bytes, gramBytesOf(shape, textCount), () => new Error('damaged'))
}

function mayHold(index: ReturnType<typeof indexOf>, text: number, part: string): boolean {
  const blocks = blocksWithGrams(index, gramsOf(part)) ?? []
  return blocks.includes(Math.floor(text / index.blockTexts))
}

/** JSON as clients write it, with more escapes than are needed. */
function written(value: unknown, form: 'plain' | 'ascii' | 'all'): string {
  const json = JSON.stringify(value)
  if (form === 'plain') return json
  const replaced = form === 'ascii' ? /[^ -~]/g : /(?<=")[a-z](?=[a-z ])|[^ -~]/gi
  return json.replace(replaced, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
