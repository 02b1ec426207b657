/**
 * Answers at the edges of the formats, as other readers open them: no rows, no columns, nothing but
 * nulls, values of several kinds, what is empty. What JSON says is what all the others have to say.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parquetMetadata } from 'hyparquet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OutputFormat } from '../../src/format/output-format.ts'
import type { Value } from '../../src/type/value.ts'
import { writeJson } from '../../src/type/write-json.ts'
import { DuckDB, sqlText } from '../support/duckdb.ts'
import { ParquetFiles, type ReadTable, readArrow, readCsv } from '../support/format-rows.ts'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let parquet: ParquetFiles
let duckdb: DuckDB
let directory: string
let edges: string
let empty: string

const events = [
  {
    id: 'a',
    created: '2024-02-29T23:59:59.123456Z',
    input: [],
    output: '',
    tags: [],
    scores: {},
    metadata: { mixed: 1, time: null, list: [], object: {}, text: '', nested: [[], {}, null, ''] },
  },
  {
    id: 'b',
    created: '2024-01-01T00:00:00Z',
    input: {},
    output: null,
    tags: ['', 'x'],
    scores: { s: 0.5 },
    metadata: { mixed: 'one', list: [], object: {}, text: 'null', nested: { a: [] } },
  },
  {
    id: 'c',
    created: '1969-12-31T23:59:59Z',
    input: false,
    output: 0,
    scores: { s: 1 },
    metadata: { mixed: [true, { x: null }], list: [1], object: { '': 1 }, text: '"' },
  },
  { id: 'd', created: '1970-01-01T00:00:00Z', metadata: { mixed: true, big: 9007199254740993n } },
]

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'assay-format-edges-'))
  parquet = await ParquetFiles.open()
  duckdb = await DuckDB.open(':memory:')
  service = await RunningService.start({ ASSAY_WORKERS: '1' })
  const project = await service.project()
  edges = await service.create('experiment', project, 'edges')
  empty = await service.create('experiment', project, 'empty')
  const text = JSON.stringify({ events }, (_, value: unknown) =>
    typeof value === 'bigint' ? `<${value}>` : value,
  )
  const body = text.replace(/"<(\d+)>"/g, '$1')
  expect((await service.request(`/v1/experiment/${edges}/insert`, { body })).status).toBe(200)
})

afterAll(async () => {
  parquet.close()
  duckdb.close()
  rmSync(directory, { recursive: true })
  await service.stop()
})

async function ask(query: string, fmt: OutputFormat): Promise<Buffer> {
  const response = await service.fetch('/btql', { body: { query, fmt } })
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(`${response.status} ${response.status === 200 ? '' : bytes}`).toBe('200 ')
  return bytes
}

type JsonRow = Readonly<Record<string, unknown>>

/** As readers give them: integers that a double cannot hold, too, are what they are in the text. */
function parseRows(text: string): JsonRow[] {
  const quoted = text.replace(/:(9007199254740993)\b/g, ':"<$1>"')
  return JSON.parse(quoted, (_, value: unknown) =>
    typeof value === 'string' && /^<\d+>$/.test(value) ? BigInt(value.slice(1, -1)) : value,
  ) as JsonRow[]
}

interface Answers {
  readonly json: readonly JsonRow[]
  readonly arrow: ReadTable
  readonly parquet: ReadTable
}

/** The answer in all formats, which are held against each other. */
async function answers(query: string): Promise<Answers> {
  const whole = (await ask(query, 'json')).toString()
  const data = whole.slice('{"data":'.length, whole.lastIndexOf(',"schema":'))
  const json = parseRows(data)
  const lines = (await ask(query, 'jsonl')).toString()
  expect(parseRows(`[${lines.trimEnd().replaceAll('\n', ',')}]`)).toEqual(json)
  const [arrow, file] = [
    readArrow(await ask(query, 'arrow')),
    await parquet.read(await ask(query, 'parquet')),
  ]
  expect(file).toEqual(arrow)
  const names = arrow.columns.map(({ name }) => name)
  expect(shown(arrow)).toEqual(json.map((row) => pick(row, names)))
  const [head = [], ...rows] = readCsv((await ask(query, 'csv')).toString())
  expect(head).toEqual(names)
  expect(rows).toEqual(json.map((row) => names.map((name) => csvField(row[name]))))
  return { json, arrow, parquet: file }
}

function shown({ columns, rows }: ReadTable): JsonRow[] {
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, c) => [name, row[c]])))
}

/** Fields that a row does not have are null in a table. */
function pick(row: JsonRow, names: readonly string[]): JsonRow {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]))
}

function csvField(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? writeJson(value as Value) : String(value)
}

const of = (experiment: string, clauses: string) => `${clauses} | from: experiment('${experiment}')`

const types = ({ columns }: ReadTable) =>
  Object.fromEntries(columns.map(({ name, type }) => [name, type]))

/** What DuckDB takes the columns of a file for. */
async function duckdbTypes(query: string): Promise<Record<string, string>> {
  const path = join(directory, 'answer.parquet')
  writeFileSync(path, await ask(query, 'parquet'))
  return parquet.types(path)
}

test.each([
  [
    'of some columns',
    () =>
      of(edges, "select: id, created, tags, is_root, output, scores.s as s | filter: id = 'none'"),
  ],
  ['of whole records', () => of(edges, "select: * | filter: id = 'none'")],
  ['of an object without records', () => of(empty, 'select: *')],
  ['in order', () => of(empty, 'select: id, metadata.n as n | sort: metadata.n | limit: 3')],
  [
    'of groups',
    () =>
      of(
        empty,
        'dimensions: metadata.mixed as k, tags | measures: count(1) as n, max(created) as t, avg(scores.s) as s',
      ),
  ],
  [
    'of a pivot',
    () => of(empty, 'dimensions: id, metadata.mixed as k | measures: count(1) as n | pivot: n'),
  ],
  ['of traces', () => `select: * | from: experiment('${empty}') summary`],
  ['of fields', () => of(empty, 'infer: *')],
  ['after a limit of none', () => of(edges, 'select: id, tags | limit: 0')],
])('no rows, %s: columns with their types are there', async (_, queryOf) => {
  const query = queryOf()
  const { json, arrow } = await answers(query)
  expect(json).toEqual([])
  expect(arrow.columns.length).toBeGreaterThan(0)
  expect(Object.keys(await duckdbTypes(query))).toEqual(arrow.columns.map(({ name }) => name))
})

test('no columns at all, as a pivot of nothing has none', async () => {
  const query = of(empty, 'dimensions: id | measures: count(1) as n | pivot: n')
  expect(JSON.parse((await ask(query, 'json')).toString())).toMatchObject({ data: [] })
  expect((await ask(query, 'jsonl')).length).toBe(0)
  expect((await ask(query, 'csv')).length).toBe(0)
  expect(readArrow(await ask(query, 'arrow'))).toEqual({ columns: [], rows: [] })
  // DuckDB opens no file without columns, whoever has written it.
  const file = parquetMetadata(new Uint8Array(await ask(query, 'parquet')).buffer)
  expect([file.schema.length, file.num_rows, file.row_groups]).toEqual([1, 0n, []])
})

test('no rows: the types are those that are known without any', async () => {
  const query = of(
    empty,
    'select: id, created, tags, is_root, input, length(id) as n, metadata.x as x',
  )
  const { arrow } = await answers(query)
  const known = {
    id: 'text',
    created: 'timestamp',
    tags: 'texts',
    is_root: 'boolean',
    input: 'json',
  }
  expect(types(arrow)).toMatchObject(known)
  expect(await duckdbTypes(query)).toMatchObject({
    id: 'VARCHAR',
    created: 'TIMESTAMP WITH TIME ZONE',
    tags: 'VARCHAR[]',
    is_root: 'BOOLEAN',
    input: 'VARCHAR',
  })
})

test('nothing but nulls', async () => {
  const query = of(
    edges,
    'select: metadata.none as none, error, scores.none as score, metadata.none.deep as deep, metadata.time as time, id | sort: id',
  )
  const { json, arrow } = await answers(query)
  expect(json).toHaveLength(events.length)
  expect(arrow.rows).toEqual(events.map(({ id }) => [null, null, null, null, null, id]))
  const groups = of(
    edges,
    'dimensions: metadata.none as k | measures: max(metadata.none) as m, sum(metadata.none) as s, array_agg(metadata.none) as l',
  )
  await answers(groups)
})

test('one column of nulls alone', async () => {
  const query = of(edges, 'select: metadata.none as none')
  const { json } = await answers(query)
  expect(json).toEqual(events.map(() => ({ none: null })))
  const path = join(directory, 'answer.csv')
  writeFileSync(path, await ask(query, 'csv'))
  const rows = await duckdb.rows(`select * from read_csv(${sqlText(path)}, header = true)`)
  expect(rows).toHaveLength(events.length)
})

test('values of several kinds', async () => {
  const query = of(
    edges,
    'select: metadata.mixed as mixed, metadata.text as text, metadata.big as big, output, input | sort: id',
  )
  const { arrow } = await answers(query)
  expect(types(arrow)).toEqual({
    mixed: 'json',
    text: 'text',
    big: 'integer',
    output: 'json',
    input: 'json',
  })
  expect(arrow.rows.map(([mixed]) => mixed)).toEqual([1, 'one', [true, { x: null }], true])
  expect(arrow.rows.map(([, text]) => text)).toEqual(['', 'null', '"', null])
  await answers(of(edges, 'dimensions: metadata.mixed as k | measures: count(1) as n'))
  await answers(of(edges, 'select: id, k, v | unpivot: metadata as (k, v) | sort: id, k'))
})

test('empty texts, lists and objects are none of them null', async () => {
  const query = of(
    edges,
    'select: input, output, tags, scores, metadata.list as list, metadata.object as object, metadata.nested as nested | sort: id',
  )
  const { arrow } = await answers(query)
  const column = (name: string) => {
    const at = arrow.columns.findIndex((each) => each.name === name)
    return arrow.rows.map((row) => row[at])
  }
  expect(column('input')).toEqual([[], {}, false, null])
  expect(column('output')).toEqual(['', null, 0, null])
  expect(column('tags')).toEqual([[], ['', 'x'], null, null])
  expect(column('list')).toEqual([[], [], [1], null])
  expect(column('object')).toEqual([{}, {}, { '': 1 }, null])
  expect(column('nested')).toEqual([[[], {}, null, ''], { a: [] }, null, null])
})

test('whole records', async () => {
  const { json } = await answers(of(edges, 'select: * | sort: id'))
  expect(json.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
})

test('a name that needs quotes, is empty, or is that of another reader', async () => {
  const query = of(
    edges,
    'select: id as "a ""b"", c", tags as "_xact id", 1 as "Ü|\t", created as "Created" | sort: id',
  )
  const { arrow } = await answers(query)
  expect(arrow.columns).toHaveLength(4)
})
