/** What loops write of rows is, to the byte, what `row-encoder.ts` writes of them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RowEncoder, textOf } from '../../src/clickhouse/row-encoder.ts'
import { VersionEncoder } from '../../src/clickhouse/version-encoder.ts'
import { ByteWriter } from '../../src/json/byte-writer.ts'
import { ExportRows } from '../../src/kernel/export-rows.ts'
import type { RowView } from '../../src/storage/row/row.ts'
import { recordColumns } from '../../src/type/record.ts'
import { rowTexts } from '../support/arbitrary-row-text.ts'
import { versionedRow } from '../support/versioned-row.ts'

const version = { transaction: 2 ** 40 + 3, index: 258 }
const pagination = { transaction: 2 ** 39, index: 1 }
const unkept = recordColumns.filter(({ origin }) => origin !== 'stored').map(({ name }) => name)
const newLoops = () => new ExportRows(unkept)

const rowOf = (text: string) => versionedRow(text, { version, pagination }).row

function byOne(view: RowView, by?: number): Buffer {
  const encoder = new RowEncoder()
  const trace = textOf(view, 'root_span_id') ?? ''
  encoder.add({ object: 7, version, view, trace, by })
  return encoder.rows.out.view()
}

/** Undefined for a row that they leave. */
function byLoops(loops: ExportRows, view: RowView, by?: number): Buffer | undefined {
  const out = new ByteWriter()
  if (!loops.add(view.bytes, 7, version, by, out)) return undefined
  loops.take(out)
  return out.view()
}

test('rows of any shape, in any field, are the same', () => {
  const fields = ['input', 'metadata', 'scores', 'other', 'error', 'tags', 'id', 'expected']
  const loops = newLoops()
  fc.assert(
    fc.property(rowTexts(), fc.constantFrom(...fields), (texts, field) => {
      for (const text of new Set(texts)) {
        const view = rowOf(`{"${field}":${text}}`)
        const found = byLoops(loops, view)
        if (found) expect(found.equals(byOne(view)), text).toBe(true)
      }
    }),
  )
})

test('words of any characters are the same', () => {
  const text = fc.string({
    unit: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...'aZ9 _-.éßÆΣσςİıſ東京ひらカ한국ไทยक्षا') },
      { weight: 2, arbitrary: fc.constantFrom('\u0301', '\u0345', '😀', '𝐀', '𠀀', 'ﷺ', 'ﬃ') },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
    ),
    maxLength: 60,
  })
  const loops = newLoops()
  fc.assert(
    fc.property(text, fc.boolean(), (output, isAscii) => {
      const json = JSON.stringify({ output, metadata: { [output]: output } })
      const view = rowOf(isAscii ? escaped(json) : json)
      const found = byLoops(loops, view)
      if (found) expect(found.equals(byOne(view)), json).toBe(true)
    }),
  )
})

/** As programs write JSON that send ASCII alone. */
function escaped(json: string): string {
  return json.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const long = 'x'.repeat(128)
const usual: readonly (readonly [name: string, json: object | string])[] = [
  ['nothing', {}],
  ['ids', { id: 'a\n"b', span_id: 'c', root_span_id: 'd', is_root: true }],
  ['a time', { created: '2026-01-02T03:04:05.678901Z' }],
  ['tags', { tags: ['a', 'b\\', 'é'] }],
  ['emoji', { input: '😀 \u{1f600}a', output: ['😀', { '😀': '東京tower' }] }],
  ['escapes', '{"input":"\\u00e9\\u00c9 \\ud83d\\ude00\\n","metadata":{"\\u0061":"\\u0062"}}'],
  ['words of many characters', { input: `${long} ${long}y é${long}`, output: '東'.repeat(90) }],
  ['numbers', '{"scores":{"a":-0,"b":0.1,"c":1e5,"d":1767225600.312,"e":0.30000000000000004}}'],
  ['long integers', '{"metadata":{"a":9007199254740993,"b":1767225600000000000,"c":1e999}}'],
  [
    'lists',
    '{"span_parents":["a1e"],"metadata":{"a":[1,-2],"b":[{"z":1,"a":"{"}],"c":[0.5],"d":[-0]}}',
  ],
  ['names', { metadata: { 'a.b': 1, '%': { '': {} }, 'é"': null } }],
  [
    'paths that are listed',
    `{"metadata":{${Array.from({ length: 70 }, (_, i) => `"a${i}":1e999`)}}}`,
  ],
  ['fields that are not kept', { project_id: 'a', log_id: 'b', input: 1 }],
]

test.each(usual)('%s are left to nobody', (_, json) => {
  const view = rowOf(typeof json === 'string' ? json : JSON.stringify(json))
  const loops = newLoops()
  expect(byLoops(loops, view)).toEqual(byOne(view))
  expect(byLoops(loops, view, 2 ** 47)).toEqual(byOne(view, 2 ** 47))
})

const unusual: readonly (readonly [name: string, json: string])[] = [
  ['half a pair', '{"input":"\\ud83d"}'],
  ['a name twice', '{"metadata":{"a":1,"\\u0061":2}}'],
  ['tags that are no texts', '{"tags":["a",1]}'],
  ['joined emoji', JSON.stringify({ input: '👨\u200d👩' })],
  ['halves of syllables', JSON.stringify({ output: 'ᄒ\u1161\u11ab' })],
  ['deep objects', `{"metadata":${'{"a":'.repeat(70)}1${'}'.repeat(70)}}`],
  ['many values', `{"other":{${Array.from({ length: 1200 }, (_, i) => `"a${i}":1`)}}}`],
  ['a long name', `{"metadata":{"${'x'.repeat(5000)}":1}}`],
  ['a long text', `{"input":"${'word '.repeat(300_000)}"}`],
]

test.each(unusual)('%s are among the others in their order', (_, json) => {
  const views = [{ id: 'before' }, undefined, { id: 'after' }].map((known) =>
    rowOf(known ? JSON.stringify(known) : json),
  )
  expect(byLoops(newLoops(), views[1]!)).toBeUndefined()
  const encoder = new VersionEncoder(({ view }) => textOf(view, 'root_span_id') ?? '')
  for (const view of views) encoder.add({ object: 7, version, view, by: undefined })
  const { length } = encoder
  const bytes = encoder.finish()
  expect(bytes.length).toBe(length)
  expect(bytes.equals(Buffer.concat(views.map((view) => byOne(view))))).toBe(true)
})

test('rows are the same when they are more than the loops hold at once', () => {
  const view = rowOf(JSON.stringify({ input: 'a text '.repeat(1000) }))
  const encoder = new VersionEncoder(() => '')
  for (let i = 0; i < 1000; i++) encoder.add({ object: 7, version, view, by: undefined })
  const one = byOne(view)
  expect(encoder.finish().equals(Buffer.concat(Array.from({ length: 1000 }, () => one)))).toBe(true)
})
