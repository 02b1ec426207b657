/**
 * Predicates on text find the same rows with the index of a segment, without it, and by the values'
 * own rules, in several scripts, whatever JSON the text is in.
 */
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { BoundExpression } from '../../src/binder/bound.ts'
import { evaluate, type LeafExpression } from '../../src/binder/evaluate.ts'
import type { WireState } from '../../src/executor/aggregate/wire-state.ts'
import { vectorOf, type WireValues } from '../../src/executor/column/wire-values.ts'
import type { TaskStorage } from '../../src/executor/scan/row-run.ts'
import { runScan } from '../../src/executor/scan.ts'
import type { GroupsResult, RowsResult } from '../../src/executor/task/task.ts'
import { compileCandidates } from '../../src/executor/text/text-candidates.ts'
import { hasNoCase } from '../../src/executor/text/text-search.ts'
import { relevanceOf } from '../../src/function/relevance.ts'
import { chunkBytes } from '../../src/storage/segment/chunked-bytes.ts'
import type { BufferPlace, GramPlace, SegmentMetadata } from '../../src/storage/segment/metadata.ts'
import { openSegment } from '../../src/storage/segment/reader.ts'
import { rowIndexes, type WrittenTextIndexes } from '../../src/storage/segment/text-indexes.ts'
import { writeSegment } from '../../src/storage/segment/writer.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import type { VersionedRow } from '../../src/storage/shred/shred-keys.ts'
import { includes } from '../../src/type/includes.ts'
import { like } from '../../src/type/like.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import { matchWords } from '../../src/type/text-match.ts'
import { type JsonObject, type Path, type Value, valueAt } from '../../src/type/value.ts'
import type { ColumnSet } from '../../src/vector/column.ts'
import { valueReader } from '../../src/vector/vector.ts'
import { isSlow, randomSeed } from '../support/random-seed.ts'
import { constant, context, field, type PlanParts, planOf } from '../support/scan-task.ts'
import { versionedRow } from '../support/versioned-row.ts'

const rowCount = 1500

const words = [
  ...'the model answered with an error timeout Kelvin \u212aelvin İstanbul istanbul straße STRASSE'.split(
    ' ',
  ),
  ...'ΟΔΟΣ οδος οδοσ Привет мир ошибка ОШИБКА 日本語 错误 检索 한국어 naïve NAÏVE nai\u0308ve ﬁne Łódź ไทยใหม่ が か\u3099 ｶﾞ हिन्दी Pythonを 😀 👩‍💻 0.5 1e3'.split(
    ' ',
  ),
  ...'🎉 🎉🎉 👍 👍🏽 🇩🇪 🇦🇩🇪🇸 ❤️ ❤ → => != €5 $5.00 100% C++ c C# 🤖abc .NET =\u0338 ≠ #tag @ala :) (x) \\+ +\\= </b> ⓐ Ⓐ'.split(
    ' ',
  ),
  ...['"quoted"', 'back\\slash', 'line\nbreak', 'tab\there', '{"a":1}', '50%', 'a_b', '\u0001f'],
]

const paths: readonly Path[] = [
  ['output'],
  ['input'],
  ['input', 0, 'content'],
  ['metadata'],
  ['metadata', 'note'],
  ['metadata', 'rare'],
  ['expected'],
  ['error'],
]

describe(`text predicates, seed ${randomSeed}`, { timeout: 300_000 }, () => {
  let rows: readonly VersionedRow[]
  let records: readonly JsonObject[]
  let plain: ColumnSet
  let indexed: ColumnSet
  /** Its indexes are taken for those of an older version. */
  let older: ColumnSet
  let described: SegmentMetadata

  beforeAll(() => {
    const random = generator(randomSeed)
    const texts = Array.from({ length: rowCount }, (_, i) => rowText(i, random))
    records = texts.map((text) => parseJson(text) as JsonObject)
    rows = texts.map((text, i) => versionedRow(text, { version: { transaction: 1000, index: i } }))
    const table = shred(rows, { maximumValueBytes: 2000 })
    const { bytes, metadata } = writeSegment(table, 1)
    const written = rowIndexes(table, false, () => undefined)
    plain = shred(rows, { maximumValueBytes: 2000 })
    const { metadata: textIndexes } = written
    const chunkOf = (chunk: number) =>
      written.bytes.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes)
    indexed = openSegment(bytes, { ...metadata, textIndexes }, 1, chunkOf)
    older = openSegment(...withOlderIndexes(bytes, metadata, written))
    described = metadata
    const names = textIndexes.wordIndexes.map(({ path, type }) => `${path.join('.')}:${type}`)
    expect(names).toEqual(
      expect.arrayContaining(['input:json', 'output:text', 'metadata.note:text']),
    )
  })

  const part = fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 14 }), fc.nat(3))
  const kinds = fc.constantFrom(
    ...([
      'like',
      'ilike',
      'match',
      'phrase',
      'start',
      'includes',
      'search',
      'within',
      'eq',
    ] as const),
  )

  it('find the rows that they should', () => {
    fc.assert(
      fc.property(fc.constantFrom(...paths), part, part, kinds, (path, first, second, kind) => {
        const one = partOf(path, first)
        const other = partOf(path, second)
        const { predicate, holds } = predicateOf(kind, path, one, other)
        const expected = records.flatMap((record, row) => (holds(record) ? [row] : []))
        expect(scan(plain, predicate)).toEqual(expected)
        expect(scan(indexed, predicate)).toEqual(expected)
        expect(count(indexed, predicate, [])).toBe(expected.length)
      }),
      { numRuns: isSlow ? 2000 : 80 },
    )
  })

  it('find the rows that do not pass', () => {
    const negated = fc.constantFrom(...(['like', 'ilike', 'match', 'start', 'search'] as const))
    fc.assert(
      fc.property(fc.constantFrom(...paths), part, part, negated, (path, first, second, kind) => {
        const { predicate } = predicateOf(kind, path, partOf(path, first), partOf(path, second))
        const other: BoundExpression = { kind: 'not', operand: predicate, type: 'boolean' }
        const expected = records.flatMap((record, row) => {
          const read = (leaf: LeafExpression) => {
            return leaf.kind === 'field' ? (valueAt(record, leaf.path) ?? null) : null
          }
          return evaluate(other, read, context) === true ? [row] : []
        })
        expect(scan(plain, other)).toEqual(expected)
        expect(scan(indexed, other)).toEqual(expected)
        expect(count(indexed, other, [])).toBe(expected.length)
      }),
      { numRuns: isSlow ? 500 : 25 },
    )
  })

  it.each(['match', 'ilike', 'start', 'search'] as const)('%s counts what is visible', (kind) => {
    const hidden = [0, 3, 40, 41, rowCount - 1]
    for (const word of ['timeout', 'the', 'model', '错误', 'none such', '🎉', 'C++', '≠', '?!']) {
      const { predicate, holds } = predicateOf(kind, ['output'], word, word)
      const expected = records.flatMap((record, row) => (holds(record) ? [row] : []))
      const seen = expected.filter((row) => !hidden.includes(row))
      expect(count(indexed, predicate, [])).toBe(expected.length)
      expect(count(indexed, predicate, hidden)).toBe(seen.length)
    }
  })

  it('score as values do', () => {
    const asked = 'timeout "the model" 错误 стр* 🎉 "→ the" C++'
    const words = [constant(asked)]
    const fields = [['output'], ['input'], ['metadata'], ['error']]
    const score: BoundExpression = {
      kind: 'call',
      name: 'search_score',
      arguments: [...words, ...fields.map((path) => field(...path))],
      type: 'number',
    }
    for (const least of [0, 0.5, 1, 2, 3]) {
      const predicate: BoundExpression = {
        kind: 'comparison',
        operator: 'gt',
        left: score,
        right: constant(least),
        type: 'boolean',
      }
      const expected = records.flatMap((record, row) => {
        const values = fields.map((path) => valueAt(record, path))
        return relevanceOf(values, asked)! > least ? [row] : []
      })
      expect(expected.length).toBeGreaterThan(0)
      expect(scan(plain, predicate)).toEqual(expected)
      expect(scan(indexed, predicate)).toEqual(expected)
    }
  })

  it.each([...words, '\udd16abc', '\ud83eabc', 'x\ud83e'])('find %j', (word) => {
    for (const path of [['output'], ['input'], ['metadata'], ['error']]) {
      for (const kind of ['like', 'ilike', 'match', 'start', 'includes'] as const) {
        const { predicate, holds } = predicateOf(kind, path, word, word)
        const expected = records.flatMap((record, row) => (holds(record) ? [row] : []))
        expect(scan(indexed, predicate)).toEqual(expected)
      }
    }
  })

  it.each([
    'naive',
    'lodz',
    'strasse',
    '検索',
    '日本',
    'timeout',
    '🎉',
    'C++',
    '≠',
    '"the →"',
    '.NET',
  ])('find %j by older indexes', (word) => {
    for (const path of [['output'], ['input'], ['metadata']]) {
      const { predicate, holds } = predicateOf('match', path, word, word)
      const expected = records.flatMap((record, row) => (holds(record) ? [row] : []))
      expect(scan(older, predicate)).toEqual(expected)
    }
  })

  it.each(['output', 'input', 'metadata'])('rule out rows by the index of %s', (name) => {
    const note = valueAt(records[700]!, ['metadata', 'note']) as string
    const unusual = note.slice(-9)
    const { predicate } = predicateOf('ilike', [name], unusual, '')
    const candidates = compileCandidates([predicate], context)!(indexed)!
    expect(candidates.between(0, rowCount)!.length).toBeLessThan(rowCount)
  })

  /** A part of what a row has at the path, in one of several cases. */
  function partOf(path: Path, [row, at, length, form]: readonly [number, number, number, number]) {
    const value = valueAt(records[row % rowCount]!, path)
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
    const start = at % Math.max(1, text.length)
    const taken = text.slice(start, start + length)
    if (form === 0) return taken.toUpperCase()
    return form === 1 ? taken.toLowerCase() : taken
  }

  function scan(set: ColumnSet, predicate: BoundExpression): number[] {
    const stage = { kind: 'rows', carried: [] } as const
    const { rows } = run(set, { predicates: [predicate], stage }, []) as RowsResult
    return [...rows.index].sort((a, b) => a - b)
  }

  function count(set: ColumnSet, predicate: BoundExpression, hidden: readonly number[]): number {
    const counted = {
      name: 'count',
      arguments: [],
      parameters: [],
      distinct: false,
      filter: undefined,
      type: 'number',
    } as const
    const stage = { kind: 'groups', keys: [], aggregates: [counted], row: undefined } as const
    const { states } = run(set, { predicates: [predicate], stage }, hidden) as GroupsResult
    return (states[0] as Extract<WireState, { kind: 'counts' }>).counts[0]!
  }

  function run(set: ColumnSet, parts: PlanParts, hidden: readonly number[]) {
    return runOver({ rows, set, metadata: described }, parts, hidden)
  }
})

it('fields of rows that an index is sure of are read, too, where others are looked at', () => {
  const filler = 'words that take some room '.repeat(4)
  const texts = Array.from({ length: 4000 }, (_, i) => {
    // Long and half digits, so that an index does not have it.
    const note = i === 3000 ? `apple${i}${i}${i} ${filler}` : `apple ${i} ${filler}`
    return JSON.stringify({ id: `row ${i}`, error: i % 10 === 0 ? note : `pear ${i} ${filler}` })
  })
  const rows = texts.map((text, i) =>
    versionedRow(text, { version: { transaction: 1000, index: i } }),
  )
  const { predicate, holds } = predicateOf('ilike', ['error'], 'apple', '')
  const stage = { kind: 'groups', keys: [field('error')], aggregates: [], row: undefined } as const
  const result = runOver({ rows, ...indexedRows(rows) }, { predicates: [predicate], stage }, [])
  const { keys, groupCount } = result as GroupsResult
  const read = valueReader(vectorOf(keys[0] as WireValues))
  const found = Array.from({ length: groupCount }, (_, group) => read(group))
  const records = texts.map((text) => parseJson(text) as JsonObject)
  expect(new Set(found)).toEqual(new Set(records.filter(holds).map(({ error }) => error)))
})

function indexedRows(rows: readonly VersionedRow[]) {
  const table = shred(rows)
  const { bytes, metadata } = writeSegment(table, 1)
  const written = rowIndexes(table, false, () => undefined)
  const chunkOf = (chunk: number) =>
    written.bytes.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes)
  const described = { ...metadata, textIndexes: written.metadata }
  return { set: openSegment(bytes, described, 1, chunkOf), metadata: described }
}

interface OpenedRows {
  readonly rows: readonly VersionedRow[]
  readonly set: ColumnSet
  readonly metadata: SegmentMetadata
}

/** @param hidden rows that were superseded */
function runOver(
  { rows, set, metadata }: OpenedRows,
  parts: PlanParts,
  hidden: readonly number[],
): RowsResult | GroupsResult {
  const keys = hidden.map((index) => ({ transaction: 1000, index }))
  const storage = {
    records: {
      rowAt: (_: number, { index }: { index: number }) => rows[index]!.row,
      supersessions: () => keys.map((key) => ({ paginationKey: key, version: key })).values(),
      // So much was written since the scan before that what is hidden is found anew.
      lastSupersession: () => Number.POSITIVE_INFINITY,
      log: () => [
        { first: 1, transaction: 1, objects: [{ object: 1, rows: 1e9, supersessions: 1 }] },
      ],
    },
    openSegment: () => set,
    segmentMetadata: () => metadata,
  } as unknown as TaskStorage
  const input = { kind: 'segment', segment: 1, object: 1, from: 0, to: rows.length } as const
  return runScan(
    {
      kind: 'scan',
      plan: planOf(parts),
      context,
      semiJoinSets: [],
      dictionaries: [],
      localGrouping: undefined,
      // What is visible is remembered by the snapshot.
      snapshot: { transaction: 2 ** 48 - 2 - hidden.length },
      inputs: [{ ...input, mayBeNewer: false }],
      share: undefined,
      wanted: Number.POSITIVE_INFINITY,
      threshold: undefined,
      mayBePartial: false,
      budgetBytes: Number.POSITIVE_INFINITY,
      cancelled: undefined,
    },
    storage,
  ) as RowsResult | GroupsResult
}

it('knows the characters that are the lower case of no other', () => {
  for (let codePoint = 0; codePoint < 0x110000; codePoint++) {
    if (codePoint >= 0xd800 && codePoint < 0xe000) continue
    const character = String.fromCodePoint(codePoint)
    const made = character.toLowerCase()
    if (made === character) continue
    expect([...made].filter(hasNoCase), `of U+${codePoint.toString(16)}`).toEqual([])
  }
})

type Kind =
  | 'like'
  | 'ilike'
  | 'match'
  | 'phrase'
  | 'start'
  | 'includes'
  | 'search'
  | 'within'
  | 'eq'

/** The indexes in the segment's file, as they were when words were cut in another way. */
function withOlderIndexes(
  bytes: Uint8Array,
  { partIndexes = [], ...metadata }: SegmentMetadata,
  { bytes: indexBytes, metadata: beside }: WrittenTextIndexes,
): [Uint8Array, SegmentMetadata] {
  const from = Math.ceil(bytes.length / 8) * 8
  const file = new Uint8Array(from + indexBytes.length)
  file.set(bytes)
  file.set(indexBytes, from)
  const moved = <Index extends { readonly place: BufferPlace }>(index: Index): Index => {
    const [offset, byteLength, checksum] = index.place
    return { ...index, place: [from + offset, byteLength, checksum] }
  }
  const movedGrams = (grams: GramPlace | undefined) => grams && { beside: moved(grams) }
  return [
    file,
    {
      ...metadata,
      byteLength: file.length,
      gramIndexes: [...partIndexes, ...beside.partIndexes.map(moved)],
      termIndexes: beside.wordIndexes.map((index) => {
        return { ...moved(index), ...movedGrams(index.beside) }
      }),
    },
  ]
}

function predicateOf(
  kind: Kind,
  path: Path,
  one: string,
  other: string,
): { predicate: BoundExpression; holds(record: JsonObject): boolean } {
  const operand = field(...path)
  const found = (record: JsonObject) => valueAt(record, path)
  switch (kind) {
    case 'like':
    case 'ilike': {
      const caseInsensitive = kind === 'ilike'
      const pattern = `%${withoutWildcards(one)}%${other.length > 4 ? `${withoutWildcards(other)}%` : ''}`
      return {
        predicate: {
          kind: 'like',
          operand,
          pattern: constant(pattern),
          caseInsensitive,
          type: 'boolean',
        },
        holds: (record) => like(found(record), pattern, caseInsensitive) === true,
      }
    }
    case 'match':
    case 'phrase':
    case 'start': {
      const query = kind === 'match' ? one : kind === 'start' ? `${one}*` : `"${one}" "${other}*"`
      return {
        predicate: { kind: 'match', operand, query: constant(query), type: 'boolean' },
        holds: (record) => matchWords(found(record), query) === true,
      }
    }
    case 'includes':
      return {
        predicate: { kind: 'includes', haystack: operand, needle: constant(one), type: 'boolean' },
        holds: (record) => includes(found(record), one) === true,
      }
    case 'eq':
      return {
        predicate: {
          kind: 'comparison',
          operator: 'eq',
          left: operand,
          right: constant(one),
          type: 'boolean',
        },
        holds: (record) => found(record) === one,
      }
    case 'within': {
      const words: BoundExpression = {
        kind: 'match',
        operand,
        query: constant(one),
        type: 'boolean',
      }
      const model = predicateOf('eq', ['metadata', 'model'], 'o3', '')
      const note = predicateOf('match', ['metadata', 'note'], other, '')
      const both: BoundExpression = {
        kind: 'and',
        operands: [words, model.predicate],
        type: 'boolean',
      }
      return {
        predicate: { kind: 'or', operands: [both, note.predicate], type: 'boolean' },
        holds: (record) =>
          (matchWords(found(record), one) === true && model.holds(record)) || note.holds(record),
      }
    }
    case 'search': {
      const fields = ['input', 'output', 'metadata', 'error']
      return {
        predicate: {
          kind: 'or',
          operands: fields.map((name) => ({
            kind: 'match',
            operand: field(name),
            query: constant(one),
            type: 'boolean',
          })),
          type: 'boolean',
        },
        holds: (record) => fields.some((name) => matchWords(valueAt(record, [name]), one) === true),
      }
    }
  }
}

function withoutWildcards(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

/** The JSON of a record, some with every character beyond ASCII escaped. */
function rowText(row: number, random: () => number): string {
  const pick = () => words[Math.floor(random() * words.length)]!
  const text = (count: number): string => Array.from({ length: count }, pick).join(' ')
  const unusual = `${text(1)}${Math.floor(random() * 1e9).toString(36)}`
  const record: { [name: string]: Value } = {
    id: `row ${row}`,
    output: `${text(20)} ${unusual}`,
    input: [
      { role: 'user', content: `${unusual} ${text(15)}` },
      {
        role: 'assistant',
        content: text(5),
        cost: random() * 10 ** Math.floor(random() * 24 - 12),
      },
    ],
    metadata: { note: `${text(12)}${unusual}`, model: row % 3 === 0 ? 'gpt-4o' : 'o3', n: row },
  }
  const metadata = record.metadata as { [name: string]: Value }
  if (row % 500 === 0) metadata.rare = { deep: { deeper: text(3) } }
  if (row % 40 === 0) record.error = text(4)
  if (row % 700 === 0) record.output = text(400)
  if (row % 97 === 0) record.error = `${text(2)} x\ud83eabc`
  if (row % 701 === 0) record.output = `half \ud83d ${text(3)}`
  if (row % 11 === 0) record.error = text(1)
  if (row % 23 === 0) metadata[text(1)] = row
  const mixed: readonly Value[] = [text(8), row, [text(4)], { [unusual]: text(3) }, row % 2 === 0]
  record.expected = mixed[row % mixed.length]!
  const json = JSON.stringify(record)
  if (row % 4 !== 0) return json
  return json.replace(/[^ -~]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** A linear congruential generator: numbers from 0 to 1. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
