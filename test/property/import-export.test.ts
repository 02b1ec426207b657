/** Whatever is exported comes back as it was, in every format. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readRow } from '../../src/cli/import-row.ts'
import { type ImportFormat, isTable, recordsOfFile } from '../../src/import/file-format.ts'
import { isBadLine } from '../../src/import/file-record.ts'
import { readRecord } from '../../src/import/json-records.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import { canonicalJson, writeJson } from '../../src/type/write-json.ts'
import { records } from '../support/arbitrary-record.ts'
import { scalars } from '../support/arbitrary-value.ts'
import { fileOf } from '../support/import-records.ts'
import { randomSeed as seed } from '../support/random-seed.ts'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string
let count = 0

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project()
})
afterAll(() => service.stop())

const formats: readonly ImportFormat[] = ['jsonl', 'parquet', 'arrow', 'csv']

/** What a record is where it is, and what the service says of its own. */
const ofItsPlace =
  /^(_xact_id|_pagination_key|(project|experiment|dataset|org)_id|log_id|is_root|audit_data|comments)$/

type Kind = 'experiment' | 'dataset'

/** @param rows texts of JSON */
async function objectOf(kind: Kind, rows: readonly string[]): Promise<string> {
  const id = await service.create(kind, project, `round-${count++}`)
  const body = `{"events":[${rows.join(',')}]}`
  const { status, text } = await service.request(`/v1/${kind}/${id}/insert`, { body })
  expect(status, text).toBe(200)
  return `${kind}('${id}')`
}

async function exported(source: string, select: string, format: ImportFormat): Promise<Uint8Array> {
  const query = `select: ${select} | from: ${source} | sort: id`
  const answer = await service.fetch('/btql', { body: { query, fmt: format } })
  return new Uint8Array(await answer.arrayBuffer())
}

/** The rows of a file, as the command line sends them. */
async function importedRows(bytes: Uint8Array, format: ImportFormat): Promise<string[]> {
  const rows: string[] = []
  const source = { label: 'file', name: 'file', unit: 'row', isTable: isTable(format) } as const
  for await (const record of recordsOfFile(fileOf(bytes, 1000), format)) {
    if (isBadLine(record)) throw new Error(record.fault)
    rows.push(readRow(source, record).bytes.toString())
  }
  return rows
}

/** All fields of all records, with the text of each value, or with its meaning. */
async function fieldsOf(source: string, textOf = (json: string) => json): Promise<object[]> {
  const bytes = await exported(source, '*', 'jsonl')
  const lines = Buffer.from(bytes).toString().split('\n').filter(Boolean)
  return lines.map((line) => {
    const fields = [...readRecord(Buffer.from(line), 1).values]
    return fields
      .filter(([name]) => !ofItsPlace.test(name))
      .map(([name, json]) => [name, textOf(json)])
  })
}

function meaning(json: string): string {
  return canonicalJson(parseJson(json))
}

function withIds(rows: readonly object[]): string[] {
  return rows.map((row, i) => writeJson({ id: `r${i}`, ...row }))
}

test.each(formats.slice(0, 3))('whole records: %s', async (format) => {
  await fc.assert(
    fc.asyncProperty(fc.array(records, { minLength: 1, maxLength: 12 }), async (rows) => {
      const source = await objectOf('experiment', withIds(rows))
      const copy = await objectOf(
        'experiment',
        await importedRows(await exported(source, '*', format), format),
      )
      expect(await fieldsOf(copy, meaning)).toEqual(await fieldsOf(source, meaning))
    }),
    { seed, numRuns: 25 },
  )
})

/** CSV cannot tell a text that is JSON from that JSON, and has no place for half of a surrogate pair. */
const plain = scalars.filter(
  (value) => typeof value !== 'string' || !/^\s*[[{"]|\p{Surrogate}/u.test(value),
)

test('values and objects: CSV', async () => {
  const row = fc.record({
    input: plain,
    expected: plain,
    metadata: fc.record({ a: scalars, b: fc.array(scalars, { maxLength: 2 }) }),
    tags: fc.array(fc.constantFrom('a', 'b,c', '12'), { maxLength: 2 }),
    extra: plain,
  })
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), async (rows) => {
      const source = await objectOf('dataset', withIds(rows))
      const copy = await objectOf(
        'dataset',
        await importedRows(await exported(source, '*', 'csv'), 'csv'),
      )
      expect(await fieldsOf(copy, meaning)).toEqual(await fieldsOf(source, meaning))
    }),
    { seed, numRuns: 25 },
  )
})

test.each(formats)(
  'numbers digit for digit, names that are data, and values of every kind: %s',
  async (format) => {
    const rows = [
      '{"id":"1","input":12,"expected":true,"metadata":{"n":1e400,"d":0.10,"__proto__":{"constructor":1}}}',
      '{"id":"2","input":"12","expected":18446744073709551617,"metadata":{"prototype":"x"}}',
      '{"id":"3","input":"true","expected":[1.50,"1.50",null],"created":"2024-05-17T10:42:31.123456Z"}',
      '{"id":"4","input":0.12345678901234567890,"expected":{"a":"b"},"tags":["x","y"]}',
    ]
    const source = await objectOf('dataset', rows)
    const copy = await objectOf(
      'dataset',
      await importedRows(await exported(source, '*', format), format),
    )
    expect(await fieldsOf(copy)).toEqual(await fieldsOf(source))
  },
)

test.each(formats)(
  'records of an experiment go into a dataset, and those of a dataset into an experiment: %s',
  async (format) => {
    const rows = [
      '{"id":"a","input":"q","output":"o","scores":{"s":0.5},"metrics":{"start":1},"span_parents":["p"],"root_span_id":"t"}',
      '{"id":"b","input":{"n":1},"error":"e","span_attributes":{"type":"llm"},"tags":["x"]}',
    ]
    const source = await objectOf('experiment', rows)
    const dataset = await objectOf(
      'dataset',
      await importedRows(await exported(source, '*', format), format),
    )
    const back = await objectOf(
      'experiment',
      await importedRows(await exported(dataset, '*', format), format),
    )
    const inputs = (name: string) => service.query(`select: id, input | from: ${name} | sort: id`)
    expect((await inputs(back)).json.data).toEqual((await inputs(source)).json.data)
  },
)
