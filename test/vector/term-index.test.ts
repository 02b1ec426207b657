/** The index of words: the rows that it gives for a word are those whose text has it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PagedBytes, withChecksums } from '../../src/storage/segment/checked-pages.ts'
import { chunkBytes, FetchedBytes } from '../../src/storage/segment/chunked-bytes.ts'
import { gramBytesOf, openGrams } from '../../src/storage/segment/gram-writer.ts'
import { TermReader } from '../../src/storage/segment/term-reader.ts'
import { termBytesOf, writeTerms } from '../../src/storage/segment/term-writer.ts'
import { foldText } from '../../src/type/fold-text.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import { cutWords } from '../../src/type/search-query.ts'
import { eachText } from '../../src/type/text-match.ts'
import type { Value } from '../../src/type/value.ts'
import { blocksWithGrams, gramsOf } from '../../src/vector/gram-index.ts'
import { isInSet, type RowSet } from '../../src/vector/row-set.ts'
import {
  type TermIndex,
  type TermPart,
  type TermRelation,
  termPartsOf,
} from '../../src/vector/term-index.ts'
import { textsOf } from '../support/texts.ts'

/** The words of a text, in lower case. */
function wordsOf(text: string): string[] {
  const lower = foldText(text)
  return cutWords(lower).map(({ from, to }) => lower.slice(from, to))
}

/** Pieces of words and what stands between them, of several scripts, lengths and cases. */
const pieces = [
  ...'a K \u212a İ ı Σ ς ß Å é 日 本語 の ไทย 한글 मोहन 𝒜 𐐀 😀 👩‍💻 7 42 2026'.split(' '),
  ...['refund', 'REFUND', 'warranty', 'incomprehensibilities', 'x'.repeat(40), '龘靐齉龘靐齉'],
  ...[
    ' ',
    ' ',
    ' ',
    ', ',
    '. ',
    '-',
    '_',
    '\n',
    '"',
    '\\',
    '\u0307',
    '\u001f',
    '\u{e0fff}',
    '\u0378',
  ],
]
const text = fc
  .array(fc.constantFrom(...pieces), { maxLength: 12 })
  .map((chosen) => chosen.join(''))
const texts = fc.array(text, { minLength: 1, maxLength: 120 })

describe('an index of words', () => {
  it('finds the rows that have a word, and no others', () => {
    fc.assert(
      fc.property(texts, fc.nat(), fc.nat(), (list, row, at) => {
        const index = indexOf(list, 'text')
        const words = wordsOf(list[row % list.length]!)
        const [term] = termPartsOf(foldText(words[at % Math.max(1, words.length)] ?? 'none'), false)
        expectRows(index, list, 'is', term!)
      }),
      { numRuns: 400 },
    )
  })

  it('finds the rows that have a part of a word', () => {
    const relations = fc.constantFrom<TermRelation>('has', 'begins with', 'ends with')
    fc.assert(
      fc.property(texts, relations, fc.nat(), fc.nat(), (list, relation, row, at) => {
        const index = indexOf(list, 'text')
        const words = wordsOf(foldText(list[row % list.length]!))
        const word = [...(words[at % Math.max(1, words.length)] ?? 'none')]
        const [from, to] = [at % word.length, 1 + (row % word.length)]
        const part = word.slice(Math.min(from, to - 1), Math.max(from + 1, to)).join('')
        const [term] = termPartsOf(part, true)
        if (term?.text === part) expectRows(index, list, relation, term)
      }),
      { numRuns: 400 },
    )
  })

  it('knows the words of texts in JSON', () => {
    const value = fc.array(fc.oneof(text, fc.double({ noNaN: true }), fc.dictionary(text, text)))
    const all = fc.array(value, { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(all, fc.nat(), fc.nat(), fc.boolean(), (values, row, at, isEscaped) => {
        const stored = values.map((each) => (isEscaped ? inAscii(each) : JSON.stringify(each)))
        const printed = stored.map((json) => textsIn(parseJson(json)).join('\0'))
        const words = wordsOf(printed[row % printed.length]!)
        const [term] = termPartsOf(foldText(words[at % Math.max(1, words.length)] ?? 'none'), false)
        expectRows(indexOf(stored, 'json'), printed, 'is', term!)
      }),
      { numRuns: 300 },
    )
  })

  it('finds words among many', () => {
    const list = Array.from({ length: 5000 }, (_, i) => `row ${i} of ${i % 3 ? 'some' : 'all'}`)
    const index = indexOf(list, 'text')
    for (const word of ['4711', 'some', 'all', 'row', 'o', 'zebra', '0', '99999']) {
      expectRows(index, list, 'is', termPartsOf(word, false)[0]!)
    }
    for (const part of ['71', 'o', 'ow', 'zz', '4711', 'some', 'zebra']) {
      expectRows(index, list, 'has', termPartsOf(part, true)[0]!)
    }
  })

  it('finds words in an index that has no heads of blocks, as older ones', () => {
    // Of so few rows each that the lists of its words are as they were.
    const list = Array.from({ length: 500 }, (_, i) => `n${i} wor${i % 100}`)
    const { bytes, beside: _, ...shape } = writeTerms(textsOf(list), 'text', false)!
    const { hasHeads, ...older } = shape
    expect(hasHeads).toBe(true)
    const blocks = Math.ceil(shape.termCount / 16)
    const directory = (blocks + 1) * 8
    const withoutHeads = new Uint8Array(termBytesOf(older))
    withoutHeads.set(bytes.subarray(0, directory))
    withoutHeads.set(bytes.subarray(directory + blocks * 4, termBytesOf(shape)), directory)
    const checked = withChecksums(withoutHeads)
    const paged = new PagedBytes(checked, withoutHeads.length, () => new Error('damaged'))
    const index = new TermReader(paged, older, undefined, list.length)
    for (const word of ['wor42', 'n17', 'n499', 'a', 'zz', 'wo']) {
      const rows = list.flatMap((each, row) => (each.split(' ').includes(word) ? [row] : []))
      expect(numbersOf(list.length, index.rowsWith('is', Buffer.from(word)))).toEqual(rows)
    }
  })

  it('keeps few of many words that were searched again and again', () => {
    const list = Array.from({ length: 20_000 }, (_, i) => `wor${i}`)
    const { bytes, beside: _, ...shape } = writeTerms(textsOf(list), 'text', false)!
    let keptBytes = 0
    const keeps = (byteLength: number) => {
      keptBytes += byteLength
    }
    const words = fetched(bytes, termBytesOf(shape), keeps)
    const index = new TermReader(words, shape, undefined, list.length, keeps)
    for (const part of ['or4711', 'r815', 'r4242', 'r4243']) {
      expect(index.rowsWith('has', Buffer.from(part))).toBeDefined()
    }
    expect(keptBytes).toBeLessThan(shape.wordBytes)
  })

  it('finds words with accents, of which it has many, by what they are folded to', () => {
    const list = Array.from(
      { length: 3000 },
      (_, i) => `é${String.fromCharCode(97 + (i % 26))}${i}`,
    )
    const index = indexOf(list, 'text')
    for (let times = 0; times < 3; times++) {
      expect(numbersOf(list.length, index.rowsAlike('word', Buffer.from('eb27')))).toEqual([27])
      const begin = index.rowsAlike('start', Buffer.from('ez29'))
      expect(numbersOf(list.length, begin)).toEqual([2911, 2937, 2963, 2989])
    }
  })

  it('doubts rows with names that may be the same', () => {
    const index = indexOf(['[{"a": "x", "a": "y"}]', '[{"a": "x"}, {"a": "y"}]'], 'json')
    expect(numbersOf(2, index.doubtfulRows)).toEqual([0])
  })

  it('knows rows whose texts JSON writes with letters', () => {
    const index = indexOf(
      ['a "quoted" \\ text', 'two\nlines', 'plain', '日本\t語', '😀\u0001'],
      'text',
    )
    expect(numbersOf(5, index.escapedRows)).toEqual([1, 3, 4])
  })

  it('is not made of identifiers', () => {
    const ids = Array.from({ length: 80_000 }, (_, i) => Math.imul(i, 0x9e3779b1).toString(16))
    expect(writeTerms(textsOf(ids), 'text', true)).toBeUndefined()
  })

  it('is made of a few long texts, though most of their words are new', () => {
    const word = (i: number) => Math.imul(i, 0x9e3779b1).toString(26).replace(/[-\d]/g, 'x')
    const texts = Array.from({ length: 400 }, (_, row) =>
      Array.from({ length: 60 }, (_, i) => word(row * 60 + i)).join(' '),
    )
    expect(writeTerms(textsOf(texts), 'text', true)).toBeUndefined()
    expect(writeTerms(textsOf(texts), 'text', false)).toBeDefined()
  })

  it('tells a damaged page from a whole one when it is read', () => {
    const {
      bytes,
      beside: _,
      ...shape
    } = writeTerms(textsOf(['something to damage']), 'text', false)!
    for (let i = 0; i < bytes.length; i += 8) bytes[i]! ^= 1
    const index = new TermReader(
      new PagedBytes(bytes, termBytesOf(shape), damaged),
      shape,
      undefined,
      1,
    )
    expect(() => index.rowsWith('is', Buffer.from('something'))).toThrow('damaged')
  })
})

const damaged = () => new Error('damaged')

/** Bytes that lie in chunks, not at the beginning of one. */
function fetched(
  bytes: Uint8Array,
  byteLength: number,
  keeps: (byteLength: number) => void = () => undefined,
): FetchedBytes {
  const offset = 800
  const stored = new Uint8Array(offset + bytes.length)
  stored.set(bytes, offset)
  const read = (chunk: number) => stored.slice(chunk * chunkBytes, (chunk + 1) * chunkBytes)
  return new FetchedBytes({ offset, byteLength }, read, keeps, damaged)
}

/** Of the texts and a longer one, so that words that are left out are no large part of them. */
function indexOf(list: readonly string[], content: 'text' | 'json'): TermIndex {
  const padding = 'common words '.repeat(list.join().length / 4 + 1)
  const all = [...list, content === 'text' ? padding : JSON.stringify([padding])]
  const { bytes, beside, ...shape } = writeTerms(textsOf(all), content, false)!
  const besideBytes = beside && fetched(beside.bytes, gramBytesOf(beside, all.length))
  const grams = besideBytes && openGrams(besideBytes, beside, all.length)
  const words = fetched(bytes, termBytesOf(shape))
  return new TermReader(words, shape, grams, all.length, () => undefined)
}

/** Rows of words in the index are told exactly, unless they are in doubt; others may be any. */
function expectRows(
  index: TermIndex,
  list: readonly string[],
  relation: TermRelation,
  term: TermPart,
): void {
  const count = list.length
  const told = new Set(numbersOf(count, index.rowsWith(relation, term.bytes)))
  // Searched again, words have an index of their parts.
  expect(new Set(numbersOf(count, index.rowsWith(relation, term.bytes)))).toEqual(told)
  expect(new Set(numbersOf(count, index.rowsWith(relation, term.bytes)))).toEqual(told)
  const doubtful = new Set(numbersOf(count, index.doubtfulRows))
  const besideRows = new Set(numbersOf(count, index.besideRows))
  const blocks = index.beside && blocksWithGrams(index.beside, gramsOf(term.text))
  for (const [row, text] of list.entries()) {
    const holds = wordsOf(foldText(text)).some((word) => fits(word, relation, term.text))
    if (doubtful.has(row)) continue
    const block = Math.floor(row / (index.beside?.blockTexts ?? 1))
    const mayBeBeside = besideRows.has(row) && blocks?.includes(block) === true
    if (told.has(row)) expect(holds, `row ${row}: ${text}`).toBe(true)
    else if (holds) expect(mayBeBeside, `row ${row}: ${text}`).toBe(true)
  }
}

function fits(word: string, relation: TermRelation, text: string): boolean {
  switch (relation) {
    case 'is':
      return word === text
    case 'begins with':
      return word.startsWith(text)
    case 'ends with':
      return word.endsWith(text)
    case 'has':
      return word.includes(text)
  }
}

function numbersOf(count: number, rows: RowSet | undefined): number[] {
  return Array.from({ length: count }, (_, row) => row).filter((row) => rows && isInSet(rows, row))
}

function textsIn(value: Value): string[] {
  const texts: string[] = []
  eachText(value, (text) => texts.push(text) > 0)
  return texts
}

function inAscii(value: unknown): string {
  return JSON.stringify(value).replace(/[^ -~]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
