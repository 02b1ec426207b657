/** Ways into the service by which bytes of others come, each with inputs that it takes. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { deflateRawSync } from 'node:zlib'
import { contentName } from '../../../src/attachment/content-store.ts'
import { PathSigner } from '../../../src/attachment/signed-path.ts'
import { AssayError } from '../../../src/error.ts'
import { eventOf, usualTarget } from '../../../src/import/event.ts'
import {
  formatOfBytes,
  type ImportFormat,
  isTable,
  recordsOfFile,
} from '../../../src/import/file-format.ts'
import { decompressLz4Frame } from '../../../src/import/lz4-frame.ts'
import { writeRow } from '../../../src/otlp/exact-number.ts'
import { readLogRecords } from '../../../src/otlp/log-record.ts'
import { groupsOfRows, rowOfLogRecords } from '../../../src/otlp/log-to-row.ts'
import type { Encoding } from '../../../src/otlp/request.ts'
import { readSpans } from '../../../src/otlp/span.ts'
import { rowOfSpan } from '../../../src/otlp/span-to-row.ts'
import { renderError } from '../../../src/parser/error-location.ts'
import { parseExpression, parseQuery } from '../../../src/parser/parse.ts'
import { parseRequest } from '../../../src/parser/parse-request.ts'
import { printAst } from '../../../src/parser/print-ast.ts'
import { printQuery } from '../../../src/parser/print-query.ts'
import { readJsonQuery } from '../../../src/parser/read-json-query.ts'
import { parseJsonBody } from '../../../src/server/json-body.ts'
import { prepareRows } from '../../../src/storage/prepare/prepare.ts'
import { rowVersionKey } from '../../../src/storage/record-key.ts'
import { rowBytes } from '../../../src/storage/row/prepared-blocks.ts'
import { RowView } from '../../../src/storage/row/row.ts'
import {
  encodeRequestBody,
  packedBlock,
  RowBlock,
  requestBlock,
  singleRow,
} from '../../../src/storage/row/row-block.ts'
import { decodeMetadata, encodeMetadata } from '../../../src/storage/segment/metadata.ts'
import { parseJsonBytes } from '../../../src/type/parse-json.ts'
import {
  formatTransaction,
  parseCursor,
  parsePaginationKey,
  parseTransaction,
} from '../../../src/type/transaction.ts'
import { writeJson } from '../../../src/type/write-json.ts'
import { fragments, readCorpus } from '../../parser/fuzz-corpus.ts'
import { fileOf } from '../import-records.ts'
import { field, spanMessage, tracesMessage } from '../otlp-message.ts'

export interface FuzzTarget {
  readonly seeds: () => readonly Uint8Array[]
  readonly words?: readonly string[]
  /** Throws what `isRefusal` does not know when something is wrong. */
  readonly run: (input: Buffer) => void | Promise<void>
  /** Whether it says of the input, in its own words, that it cannot be taken. */
  readonly isRefusal: (thrown: unknown) => boolean
  /** Whether what the code has run chooses the inputs that others are made of. */
  readonly isGuided: boolean
}

const isUsers = (thrown: unknown) => thrown instanceof AssayError && thrown.family === 'user'
/** Files are read by the command line, which shows the message. */
const isSentence = (thrown: unknown) =>
  thrown instanceof Error && !(thrown instanceof TypeError) && !(thrown instanceof RangeError)

const buffers = (...texts: readonly string[]) => texts.map((text) => Buffer.from(text))
const corpus = (name: string) => {
  const folder = fileURLToPath(new URL(`../../fuzz/corpus/${name}`, import.meta.url))
  return readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`))
}

const span = spanMessage({
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  name: 'chat',
  attributes: {
    'gen_ai.request.model': field(1, 'gpt-4'),
    'gen_ai.usage.input_tokens': Buffer.from([0x18, 0x2a]),
    'gen_ai.prompt': field(5, field(1, field(1, 'hello'))),
    'llm.input_messages.0.message.content': field(1, '{"a":[1,2]}'),
    'openinference.span.kind': field(1, 'LLM'),
  },
})
const log = Buffer.concat([
  field(5, field(1, 'message')),
  field(6, Buffer.concat([field(1, 'event.name'), field(2, field(1, 'gen_ai.choice'))])),
  field(9, Buffer.from('0af7651916cd43dd8448eb211c80319c', 'hex')),
  field(10, Buffer.from('b7ad6b7169203331', 'hex')),
])
const spanJson = JSON.stringify({
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 's' } }] },
      scopeSpans: [
        {
          scope: { name: 'n', version: '1' },
          spans: [
            {
              traceId: '0af7651916cd43dd8448eb211c80319c',
              spanId: 'b7ad6b7169203331',
              parentSpanId: '',
              name: 'chat',
              kind: 3,
              startTimeUnixNano: '1700000000000000001',
              endTimeUnixNano: 1700000001000000000,
              attributes: [
                { key: 'gen_ai.usage.cost', value: { doubleValue: 0.5 } },
                { key: 'list', value: { arrayValue: { values: [{ intValue: '1' }] } } },
                {
                  key: 'map',
                  value: { kvlistValue: { values: [{ key: 'k', value: { boolValue: true } }] } },
                },
              ],
              events: [{ name: 'exception', timeUnixNano: '1', attributes: [] }],
              links: [{ traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }],
              status: { code: 2, message: 'm' },
            },
          ],
        },
      ],
    },
  ],
})
const logJson = JSON.stringify({
  resourceLogs: [
    {
      scopeLogs: [
        {
          logRecords: [
            {
              timeUnixNano: '1700000000000000001',
              severityText: 'INFO',
              body: { kvlistValue: { values: [{ key: 'k', value: { stringValue: 'v' } }] } },
              attributes: [{ key: 'event.name', value: { stringValue: 'gen_ai.user.message' } }],
              traceId: '0af7651916cd43dd8448eb211c80319c',
              spanId: 'b7ad6b7169203331',
            },
          ],
        },
      ],
    },
  ],
})

/** What is written of it must be a row of JSON. */
function readTraces(body: Buffer, encoding: Encoding): void {
  for (const one of readSpans(body, encoding)) {
    if (!('problem' in one)) JSON.parse(writeRow(rowOfSpan(one, undefined)))
  }
}

function readLogs(body: Buffer, encoding: Encoding): void {
  const records = [...readLogRecords(body, encoding)].flatMap((one) =>
    'problem' in one ? [] : one,
  )
  for (const group of groupsOfRows(records)) {
    JSON.parse(writeRow(rowOfLogRecords(group, undefined)))
  }
}

/** Each record is an event of JSON, or a line is told to be wrong. */
async function readFile(input: Buffer, format: ImportFormat): Promise<void> {
  formatOfBytes(input)
  const form = {
    isTable: isTable(format),
    targetOf: (name: string) => usualTarget(name, format === 'csv'),
  }
  for await (const record of recordsOfFile(fileOf(input, 4096), format)) {
    if ('fault' in record) continue
    let text: string
    try {
      text = eventOf(record, form).text
    } catch (thrown) {
      if (!isSentence(thrown)) throw thrown
      continue
    }
    JSON.parse(text)
  }
}

/** Whom links are made for. */
const holder = { userId: null, organizationId: 'o', keyId: null }
const signer = new PathSigner(Buffer.alloc(32, 7), () => 0)

function readTokens(input: Buffer): void {
  const text = input.toString('latin1')
  parseCursor(text)
  const key = parsePaginationKey(text)
  if (key && !Number.isSafeInteger(key.transaction)) throw new RangeError('a key that is no number')
  const name = contentName({ organizationId: 'o', kind: 'k', key: 'k' } as never)
  let isSigned = true
  try {
    signer.verify('get', name, new URLSearchParams(text))
  } catch (thrown) {
    if (!isUsers(thrown)) throw thrown
    isSigned = false
  }
  if (isSigned && !text.includes(signer.sign('get', name, holder).slice(-43)))
    throw new Error('a forged link is taken')
  if (parseTransaction(text) < 0) throw new RangeError('a version below zero')
}

function prepare(body: Buffer): void {
  const { bytes, ends } = prepareRows(body, { form: 'logs3', nowMs: 0 })
  for (let i = 0; i < ends.length; i++) {
    const row = new RowView(bytes.subarray(i === 0 ? 0 : ends[i - 1], ends[i]))
    for (const { value } of row.fields())
      JSON.parse(row.bytes.toString('utf8', value.start, value.end))
  }
}

const firstVersion = { transaction: 7 * 65_536, index: 40 }
const storedKey = rowVersionKey(1, firstVersion)

/** Some rows as each form of value has them. */
function storedValues(): Buffer[] {
  const numbers = Array.from({ length: 20 }, (_, i) => i)
  const events = numbers.map((i) => ({
    id: `r${i}`,
    input: 'text '.repeat(30 * i),
    metadata: { i },
  }))
  const body = Buffer.from(JSON.stringify({ events }))
  const object = { type: 'project_logs', id: 'P' } as const
  const prepared = prepareRows(body, { form: 'events', object, nowMs: 0 })
  const rows = numbers.map((i) => rowBytes(prepared, i))
  const { transaction, index } = firstVersion
  const versions = numbers.map((i) => ({ transaction, index: index + i }))
  return [
    packedBlock(storedKey, versions, rows),
    requestBlock(storedKey, encodeRequestBody(numbers, rows), transaction, []),
    singleRow(storedKey, rows[3]!),
  ]
}

function storedRows(value: Buffer): string {
  const block = new RowBlock(storedKey, value, { transaction: 0 })
  const rows: string[] = []
  for (let place = 0; place < block.rowCount; place++) {
    const row = block.rowAt(place)
    if (!row) continue
    const fields = Array.from(
      row.fields(),
      ({ name, value: { start, end } }) => `${name} ${row.bytes.toString('utf8', start, end)}`,
    )
    rows.push(JSON.stringify([block.versionAt(place), fields]))
  }
  return rows.join()
}

const stored = storedValues()
const rightRows: ReadonlySet<string> = new Set(stored.map(storedRows))

const metadata = { format: 3, rowCount: 1, objects: [], keys: {}, columns: [] }

export const targets: Readonly<Record<string, FuzzTarget>> = {
  'queries of text': {
    seeds: () => buffers(...readCorpus()),
    words: fragments,
    isGuided: true,
    isRefusal: isUsers,
    run: (input) => {
      const text = input.toString()
      try {
        printQuery(parseRequest(text, undefined))
      } catch (thrown) {
        if (!isUsers(thrown)) throw thrown
        if (text.length % 8 === 0) renderError(text, thrown as AssayError)
      }
      parseExpression(text)
    },
  },
  'queries of JSON': {
    seeds: () =>
      buffers(
        '{"select":[{"op":"star"}],"from":{"op":"function","name":{"op":"ident","name":["experiment"]},"args":[{"op":"literal","value":"e"}]},"filter":{"op":"and","left":{"op":"eq","left":{"op":"ident","name":["a",0]},"right":{"op":"literal","value":1}},"right":{"btql":"b > 2"}},"limit":10,"sort":[{"expr":{"btql":"a"},"dir":"desc"}]}',
        '{"dimensions":[{"expr":{"op":"ident","name":["m"]},"alias":"m"}],"measures":[{"expr":{"op":"function","name":{"op":"ident","name":["count"]},"args":[{"op":"star"}]},"alias":"n"}],"from":{"btql":"experiment(\'e\')"},"cursor":"x","preview_length":-1}',
        '{"select":[{"expr":{"op":"if","conds":[{"cond":{"btql":"a"},"then":{"op":"neg","expr":{"op":"literal","value":1.5}}}],"else":{"op":"isnull","expr":{"op":"ident","name":["x"]}}}}],"from":{"btql":"project_logs(\'p\') spans"},"unpivot":[{"expr":{"btql":"s"},"alias":["k","v"]}],"pivot":[]}',
      ),
    words: [
      '"op":',
      '"ident"',
      '"literal"',
      '"btql"',
      '"between"',
      '"includes"',
      '"in"',
      '"not"',
      '"match"',
    ],
    isGuided: true,
    isRefusal: isUsers,
    run: (input) => {
      const query = readJsonQuery(Object.fromEntries(parseJsonBody(input)))
      // Whatever is taken has a text, which is the same tree.
      assert.equal(printAst(parseQuery(printQuery(query))), printAst(query))
    },
  },
  JSON: {
    seeds: () =>
      buffers(
        '{"a":[1,-2.5e3,"x\\u00e9\\ud83d\\ude00",{"b":null}],"c":12345678901234567890}',
        '[[],{}]',
      ),
    isGuided: false,
    isRefusal: isUsers,
    run: (input) => {
      JSON.parse(writeJson(parseJsonBytes(input)))
    },
  },
  'rows of inserts': {
    seeds: () =>
      buffers(
        '{"rows":[{"id":"a","experiment_id":"e","input":{"q":"é"},"scores":{"s":0.5},"tags":["t"],"created":"2026-01-02T03:04:05.678Z"},{"id":"b","project_id":"p","log_id":"g","_is_merge":true,"_merge_paths":[["metadata","a"]],"metadata":{"a":{"b":1}}}]}',
        '{"rows":[{"id":"a","experiment_id":"e","_object_delete":true},{"experiment_id":"e","span_id":"s","root_span_id":"r","span_parents":["p"],"metrics":{"start":1,"end":2},"error":null,"span_attributes":{"type":"llm"}}],"api_version":2}',
      ),
    words: [
      '"_is_merge":',
      '"_merge_paths":',
      '"_parent_id":',
      '"created":',
      '"tags":',
      '"metrics":',
      '"id":',
    ],
    isGuided: true,
    isRefusal: isUsers,
    run: prepare,
  },
  'traces of protobuf': {
    seeds: () => [tracesMessage(span), tracesMessage(span, span)],
    isGuided: true,
    isRefusal: isUsers,
    run: (input) => readTraces(input, 'protobuf'),
  },
  'logs of protobuf': {
    seeds: () => [field(1, field(2, field(2, log)))],
    isGuided: true,
    isRefusal: isUsers,
    run: (input) => readLogs(input, 'protobuf'),
  },
  'traces of JSON': {
    seeds: () => buffers(spanJson),
    words: ['"stringValue":', '"bytesValue":', '"intValue":', '"kvlistValue":', '{"values":['],
    isGuided: true,
    isRefusal: isUsers,
    run: (input) => readTraces(input, 'json'),
  },
  'logs of JSON': {
    seeds: () => buffers(logJson),
    words: ['"stringValue":', '"bytesValue":', '"intValue":', '"kvlistValue":', '{"values":['],
    isGuided: true,
    isRefusal: isUsers,
    run: (input) => readLogs(input, 'json'),
  },
  'cursors, versions and signed links': {
    seeds: () => [
      ...buffers(
        'AAAAAAAAAAE',
        'p00000000000000000001',
        formatTransaction(7 * 65_536),
        'deadbeefdeadbeef',
      ),
      Buffer.from(signer.sign('get', 'n', holder).split('?')[1]!),
    ],
    isGuided: false,
    isRefusal: isUsers,
    run: readTokens,
  },
  'CSV files': {
    seeds: () =>
      buffers(
        'id,input,metadata.model\na,"x ""y""\nz",m\nb,,"{""k"":1}"\n',
        'sep=;\nid;input\n1;2\n',
        'a\tb\r\n1\t2\r\n',
      ),
    isGuided: true,
    isRefusal: isSentence,
    run: (input) => readFile(input, 'csv'),
  },
  'JSON files': {
    seeds: () =>
      buffers(
        '{"id":"a","input":1}\n{"id":"b","tags":["t"]}\n',
        '[{"input":"x"},\n{"expected":[1]}]',
      ),
    isGuided: true,
    isRefusal: isSentence,
    run: (input) => readFile(input, 'jsonl'),
  },
  'Parquet files': {
    seeds: () => corpus('parquet'),
    isGuided: false,
    isRefusal: isSentence,
    run: (input) => readFile(input, 'parquet'),
  },
  'Arrow files': {
    seeds: () => corpus('arrow'),
    isGuided: false,
    isRefusal: isSentence,
    run: (input) => readFile(input, 'arrow'),
  },
  'LZ4 frames': {
    seeds: () => corpus('lz4'),
    isGuided: false,
    isRefusal: isSentence,
    run: (input) => {
      decompressLz4Frame(input)
    },
  },
  'stored rows': {
    seeds: () => stored,
    isGuided: false,
    isRefusal: (thrown) => thrown instanceof AssayError && thrown.code === 'STORAGE_CORRUPT',
    run: (input) => {
      if (!rightRows.has(storedRows(input))) throw new Error('damaged rows are taken for right')
    },
  },
  'metadata of segments': {
    seeds: () => [encodeMetadata(metadata as never), deflateRawSync('no metadata')],
    isGuided: false,
    isRefusal: (thrown) => thrown instanceof AssayError && thrown.code === 'STORAGE_CORRUPT',
    run: (input) => {
      decodeMetadata(input, 1)
    },
  },
}
