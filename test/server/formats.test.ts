/** Answers in every format, over real sockets. */
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { brotliDecompressSync, constants, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OutputFormat } from '../../src/format/output-format.ts'
import { ParquetFiles, type ReadTable, readArrow, readCsv } from '../support/format-rows.ts'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
let parquet: ParquetFiles
let kinds: string
let big: string
const bigRows = 2000

const events = [
  {
    id: 'a',
    created: '2024-02-29T23:59:59.123456Z',
    input: { text: 'grüße, "Welt"\r\n', list: [1, [2, null]] },
    output: '=1+1',
    tags: ['x', 'ÿ,"'],
    scores: { s: 0.25 },
    metadata: { text: '漢字 🎉 \ud83c\udf89', mixed: 1, big: 9007199254740993n, flag: true, n: -0 },
  },
  {
    id: 'b',
    created: '1969-12-31T00:00:00Z',
    output: '',
    tags: [],
    metadata: { text: '', mixed: 'one', big: -12345678901234567n, flag: false, n: 1e300 },
    extra: { deep: [{ x: 1 }] },
  },
  {
    id: 'c',
    created: '2024-01-01T00:00:00Z',
    output: null,
    metadata: { text: null, mixed: [1], big: 3n, huge: 123456789012345678901234567890n, n: 0.1 },
  },
]

beforeAll(async () => {
  parquet = await ParquetFiles.open()
  service = await RunningService.start({ ASSAY_WORKERS: '2' })
  const project = await service.project()
  kinds = await service.create('experiment', project, 'kinds')
  big = await service.create('experiment', project, 'big')
  const body = `{"events":${json(events)}}`
  const written = await service.request(`/v1/experiment/${kinds}/insert`, { body })
  expect(written.status).toBe(200)
  for (let from = 0; from < bigRows; from += 500) {
    const rows = Array.from({ length: 500 }, (_, i) => bigRow(from + i))
    await service.insert('experiment', big, rows)
  }
})
afterAll(async () => {
  parquet.close()
  await service.stop()
})

function bigRow(i: number) {
  return { id: `r${i}`, input: noise(i), scores: { s: i / bigRows } }
}

/** A text of 8,000 characters that hardly compresses, the same for the same number. */
function noise(seed: number): string {
  const hashes = Array.from({ length: 125 }, (_, i) => createHash('sha384').update(`${seed}/${i}`))
  return hashes.map((hash) => hash.digest('base64')).join('')
}

/** With integers of any length. */
function json(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? `<${each}>` : each,
  ).replace(/"<(-?\d+)>"/g, '$1')
}

const from = (clauses: string, experiment = kinds) =>
  `${clauses} | from: experiment('${experiment}')`

async function ask(query: string, format: OutputFormat, headers: Record<string, string> = {}) {
  const response = await service.fetch('/btql', { body: { query, fmt: format }, headers })
  const bytes = Buffer.from(await response.arrayBuffer())
  if (response.status !== 200) throw new Error(bytes.toString())
  return { bytes, headers: response.headers }
}

async function tables(query: string): Promise<ReadTable[]> {
  const arrow = readArrow((await ask(query, 'arrow')).bytes)
  return [arrow, await parquet.read((await ask(query, 'parquet')).bytes)]
}

test.each([
  ['json', 'application/json', null],
  ['jsonl', 'application/x-ndjson', null],
  ['csv', 'text/csv; charset=utf-8; header=present', 'csv'],
  ['arrow', 'application/vnd.apache.arrow.stream', 'arrows'],
  ['parquet', 'application/vnd.apache.parquet', 'parquet'],
] as const)('%s says what it is', async (format, type, ending) => {
  const { headers } = await ask(from('select: id'), format)
  expect(headers.get('content-type')).toBe(type)
  const name = new RegExp(`^attachment; filename="assay-\\d{8}T\\d{6}Z.${ending}"$`)
  if (ending === null) expect(headers.get('content-disposition')).toBeNull()
  else expect(headers.get('content-disposition')).toMatch(name)
})

test.each([
  ['text/csv', undefined, 'text/csv'],
  ['application/vnd.apache.arrow.stream', undefined, 'application/vnd.apache.arrow.stream'],
  ['text/html, text/csv;q=0.5, application/x-ndjson;q=0.8', undefined, 'application/x-ndjson'],
  ['application/x-jsonlines', undefined, 'application/x-ndjson'],
  ['text/csv;q=0, */*', undefined, 'application/json'],
  ['*/*', undefined, 'application/json'],
  ['text/csv', 'json', 'application/json'],
])('Accept: %s, with fmt %s', async (accept, fmt, type) => {
  const body = { query: from('select: id'), ...(fmt && { fmt }) }
  const { headers } = await service.request('/btql', { body, headers: { accept } })
  expect(headers.get('content-type')!.split(';')[0]).toBe(type)
})

test('columns have the types of their values, and equal values in Arrow and Parquet', async () => {
  const query = from(
    'select: id, created, is_root, tags, input, output, metadata.text as text, metadata.mixed as mixed,' +
      ' metadata.big as big, metadata.huge as huge, metadata.flag as flag, metadata.n as n,' +
      ' scores.s as s, length(id) as len, metadata.none as none | sort: id',
  )
  const [arrow, file] = await tables(query)
  expect(file).toEqual(arrow)
  expect(Object.fromEntries(arrow!.columns.map(({ name, type }) => [name, type]))).toEqual({
    id: 'text',
    created: 'timestamp',
    is_root: 'boolean',
    tags: 'texts',
    input: 'json',
    output: 'json',
    text: 'text',
    mixed: 'json',
    big: 'integer',
    huge: 'json',
    flag: 'boolean',
    n: 'number',
    s: 'number',
    len: 'number',
    none: 'json',
  })
  const row = (i: number) => arrow!.rows[i]!.slice(1, 14)
  expect(row(0)).toEqual([
    '2024-02-29T23:59:59.123456Z',
    true,
    ['x', 'ÿ,"'],
    expect.objectContaining({ text: 'grüße, "Welt"\r\n', list: [1, [2, null]] }),
    '=1+1',
    '漢字 🎉 🎉',
    1,
    9007199254740993n,
    null,
    true,
    0,
    0.25,
    1,
  ])
  expect(row(1)).toEqual([
    '1969-12-31T00:00:00Z',
    true,
    [],
    null,
    '',
    '',
    'one',
    -12345678901234567n,
    null,
    false,
    1e300,
    null,
    1,
  ])
  const huge = 123456789012345678901234567890n
  const third = ['2024-01-01T00:00:00Z', true, null, null, null, null, [1], 3, huge, null, 0.1]
  expect(row(2)).toEqual([...third, null, 1])
})

test('whole records have all fields that there are, those of their own too', async () => {
  for (const { columns, rows } of await tables(from('select: * | sort: id'))) {
    const names = columns.map(({ name }) => name)
    expect(names).toEqual([...names].sort())
    expect(names).toContain('extra')
    const at = names.indexOf('extra')
    expect(columns[at]!.type).toBe('json')
    expect(rows.map((row) => row[at])).toEqual([null, { deep: [{ x: 1 }] }, null])
  }
})

test('counts are integers; keys of groups are codes of a dictionary; made columns are there', async () => {
  const grouped = from('dimensions: tags[0] as tag | measures: count(1) as n, avg(scores.s) as s')
  for (const { columns } of await tables(grouped)) {
    expect(columns.map(({ type }) => type)).toEqual(['text', 'integer', 'number'])
  }
  const pivoted = from(
    'dimensions: is_root, metadata.flag as flag | measures: count(1) as n | pivot: n',
  )
  const { json: answer } = await service.query(pivoted)
  const rows = answer.data as unknown as Record<string, unknown>[]
  for (const { columns, rows: read } of await tables(pivoted)) {
    const shown = read.map((row) =>
      Object.fromEntries(columns.map(({ name }, c) => [name, row[c]])),
    )
    expect(shown).toEqual(rows)
  }
})

test('no rows: the columns are there', async () => {
  const none = from("select: id, created, scores.s as s | filter: id = 'none'")
  for (const { columns, rows } of await tables(none)) {
    expect(columns.map(({ name }) => name)).toEqual(['id', 'created', 's'])
    expect(rows).toEqual([])
  }
  expect((await ask(none, 'csv')).bytes.toString()).toBe('id,created,s\r\n')
  expect((await ask(none, 'jsonl')).bytes.toString()).toBe('')
})

test('CSV quotes what needs it, and tells null from an empty text', async () => {
  const { bytes } = await ask(
    from('select: id, input.text as "in, put", output, metadata.mixed | sort: id'),
    'csv',
  )
  expect(bytes.toString()).toBe(
    'id,"in, put",output,mixed\r\n' +
      'a,"grüße, ""Welt""\r\n",=1+1,1\r\n' +
      'b,,"",one\r\n' +
      'c,,,[1]\r\n',
  )
})

test('a large answer is the same in every format, in many batches or row groups', async () => {
  const query = from('select: id, input, scores.s as s', big)
  const expected = (await service.query(query)).json.data as unknown as Record<string, unknown>[]
  expect(expected).toHaveLength(bigRows)
  const rows = expected.map(({ id, input, s }) => [id, input, s])
  const same = (read: unknown, written: unknown) => {
    // Such texts are nothing to print.
    expect(JSON.stringify(read) === JSON.stringify(written)).toBe(true)
  }
  for (const read of await tables(query)) same(read.rows, rows)
  const [, ...lines] = readCsv((await ask(query, 'csv')).bytes.toString())
  same(
    lines,
    expected.map(({ id, input, s }) => [id, input, String(s)]),
  )
})

test.each([
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, br', 'br'],
  ['gzip;q=1, br;q=0.2', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['identity, gzip;q=0.5', null],
  ['deflate', null],
  ['', null],
])('Accept-Encoding: %s', async (accepted, encoding) => {
  for (const query of [from('select: *'), from('select: id, input', big)]) {
    const text = await raw(query, 'jsonl', `accept-encoding: ${accepted}\r\n`)
    expect(/^content-encoding: (\w+)/im.exec(text.head)?.[1] ?? null).toBe(encoding)
    const body =
      encoding === 'br'
        ? brotliDecompressSync(text.body)
        : encoding === 'gzip'
          ? gunzipSync(text.body)
          : text.body
    expect(body.toString()).toBe((await ask(query, 'jsonl')).bytes.toString())
  }
})

test('Parquet is not compressed twice', async () => {
  const query = from('select: id, input', big)
  const { headers } = await ask(query, 'parquet', { 'accept-encoding': 'gzip, br' })
  expect(headers.get('content-encoding')).toBeNull()
})

test.each(['json', 'jsonl', 'csv', 'arrow', 'parquet'] as const)(
  'a client that leaves in the middle of %s takes nothing with it',
  async (format) => {
    const cancel = new AbortController()
    const body = { query: from('select: *', big), fmt: format }
    const headers = { 'accept-encoding': 'identity' }
    const response = await service.fetch('/btql', { body, headers }, cancel.signal)
    await response.body!.getReader().read()
    cancel.abort()
    await expect.poll(async () => running()).toEqual([])
    expect((await service.query(from('select: id'))).status).toBe(200)
  },
)

async function running(): Promise<{ id: string }[]> {
  const { json: answer } = await service.request('/admin/queries')
  return answer.queries as unknown as { id: string }[]
}

test.each(['json', 'jsonl', 'csv', 'arrow', 'parquet'] as const)(
  'a slow reader of %s gets all of it, and the others do not wait for it',
  async (format) => {
    const query = from('select: id, input', big)
    const whole = await ask(query, format)
    const body = { query, fmt: format }
    const headers = { 'accept-encoding': 'identity' }
    const reader = (await service.fetch('/btql', { body, headers })).body!.getReader()
    const parts: Uint8Array[] = []
    for (let i = 0; ; i++) {
      const { done, value } = await reader.read()
      if (done) break
      parts.push(value)
      if (i < 5) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        expect((await service.query(from('select: id'))).status).toBe(200)
      }
    }
    const received = Buffer.concat(parts)
    if (format === 'json') {
      const rows = (text: Buffer) => (JSON.parse(text.toString()) as { data: unknown }).data
      expect(rows(received)).toEqual(rows(whole.bytes))
    } else expect(received.equals(whole.bytes)).toBe(true)
  },
)

/** Decompresses as much as there is of what has no end, as clients do that read as it comes. */
const sofar = {
  identity: (body: Buffer) => body,
  gzip: (body: Buffer) => gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }),
  br: (body: Buffer) =>
    brotliDecompressSync(body, { finishFlush: constants.BROTLI_OPERATION_FLUSH }),
}

const formats = ['json', 'jsonl', 'csv', 'arrow', 'parquet'] as const
const encodings = ['identity', 'gzip', 'br'] as const

test.each(formats.flatMap((format) => encodings.map((encoding) => [format, encoding] as const)))(
  '%s with the encoding %s that breaks off is not taken for whole',
  async (format, encoding) => {
    const cancelAll = async () => {
      for (const { id } of await running()) {
        await service.request(`/admin/queries/${id}/cancel`, { method: 'POST' })
      }
    }
    const query = from('select: *', big)
    const headers = `accept-encoding: ${encoding}\r\n`
    const { head, body, ended } = await raw(query, format, headers, { onFirstBytes: cancelAll })
    expect(head).toMatch(/^HTTP\/1.1 200/)
    expect(head).toMatch(/transfer-encoding: chunked/i)
    expect(body.length).toBeGreaterThan(0)
    // The first thing that a client sees, whatever it makes of the bytes.
    expect(ended).toBe(false)
    const used = /^content-encoding: (gzip|br)/im.exec(head)?.[1] as 'gzip' | 'br' | undefined
    expect(used ?? 'identity').toBe(format === 'parquet' ? 'identity' : encoding)
    if (used === 'gzip') expect(() => gunzipSync(body)).toThrow('unexpected end of file')
    if (used === 'br') expect(() => brotliDecompressSync(body)).toThrow('unexpected end of file')
    const bytes = sofar[used ?? 'identity'](body)
    if (format === 'parquet') await expect(parquet.read(bytes)).rejects.toThrow()
    if (format === 'arrow') expect(hasArrowEnd(bytes)).toBe(false)
    if (format !== 'json') return
    const { data, error } = JSON.parse(bytes.toString()) as { data: unknown[]; error: unknown }
    expect(data.length).toBeLessThan(bigRows)
    expect(error).toMatchObject({ code: 'QUERY_CANCELLED' })
  },
)

/** A marker and a length of 0, after which nothing more belongs to an IPC stream. */
function hasArrowEnd(bytes: Buffer): boolean {
  return bytes.subarray(-8).equals(Buffer.from('ffffffff00000000', 'hex'))
}

test('a whole stream of Arrow has its end', async () => {
  expect(hasArrowEnd((await ask(from('select: *'), 'arrow')).bytes)).toBe(true)
})

interface RawOptions {
  /** Nothing more is read until this has ended. */
  readonly onFirstBytes?: () => Promise<void>
}

/** What comes over the wire: the head, the body without its chunks, and whether that has its end. */
function raw(query: string, fmt: string, headers: string, { onFirstBytes }: RawOptions = {}) {
  const body = JSON.stringify({ query, fmt })
  const { hostname, port } = new URL(service.url)
  return new Promise<{ head: string; body: Buffer; ended: boolean }>((resolve) => {
    const parts: Buffer[] = []
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `POST /btql HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKey}\r\n${headers}` +
          `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
      )
    })
    if (onFirstBytes) {
      socket.once('data', () => {
        socket.pause()
        void onFirstBytes().finally(() => socket.resume())
      })
    }
    socket.on('data', (part) => parts.push(part))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(readAnswer(Buffer.concat(parts))))
  })
}

function readAnswer(bytes: Buffer): { head: string; body: Buffer; ended: boolean } {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return { head: '', body: Buffer.alloc(0), ended: false }
  const head = bytes.subarray(0, end).toString()
  const rest = bytes.subarray(end + 4)
  const length = /^content-length: (\d+)/im.exec(head)?.[1]
  if (length !== undefined) return { head, body: rest, ended: rest.length >= Number(length) }
  const parts: Buffer[] = []
  for (let at = 0; at < rest.length; ) {
    const line = rest.indexOf('\r\n', at)
    if (line < 0) break
    const size = Number.parseInt(rest.toString('latin1', at, line), 16)
    if (size === 0) return { head, body: Buffer.concat(parts), ended: true }
    parts.push(rest.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
  return { head, body: Buffer.concat(parts), ended: false }
}

test('texts that a spreadsheet would take for formulas are escaped in CSV, if that is asked for', async () => {
  const query = `select: output as "=o", -5 as n, '-5' as t | from: experiment('${kinds}') | filter: id = 'a'`
  const text = async (escape_formulas: boolean) => {
    return (await service.query(query, { fmt: 'csv', escape_formulas })).text
  }
  expect(await text(false)).toBe('=o,n,t\r\n=1+1,-5,-5\r\n')
  expect(await text(true)).toBe("'=o,n,t\r\n'=1+1,-5,'-5\r\n")
  const { json: rows } = await service.query(query, { escape_formulas: true })
  expect(rows.data).toEqual([{ '=o': '=1+1', n: -5, t: '-5' }])
})
