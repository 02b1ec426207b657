/** An answer says the same in every format: that of each query of the golden files. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { QueryResult } from '../../src/engine.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import { isObject, type JsonObject, type Value } from '../../src/type/value.ts'
import { canonicalJson } from '../../src/type/write-json.ts'
import { ParquetFiles, type ReadTable, readArrow, readCsv } from '../support/format-rows.ts'
import { readGoldenFiles } from '../support/golden-file.ts'
import type { Block } from '../support/slt.ts'
import { readAnswer } from '../support/slt-answer.ts'
import { type GoldenRun, GoldenStore, startRun } from '../support/slt-runner.ts'

/** What is not the same when it is asked twice. */
const changing = /random|uuid|sample|now\(|current_date/i

const files = readGoldenFiles().filter(({ blocks }) => blocks.some(({ kind }) => kind === 'query'))
let parquet: ParquetFiles

beforeAll(async () => {
  parquet = await ParquetFiles.open()
})
afterAll(() => parquet.close())

describe('golden queries', () => {
  let store: GoldenStore
  beforeAll(async () => {
    // Many segments, so that scans, types and rows come from many tasks.
    store = await GoldenStore.open({ state: 'tiny', workers: 2 })
  })
  afterAll(() => store.close())

  it.each(files)('$name', async (file) => {
    const run = startRun(store, file)
    for (const block of file.blocks) {
      const lines = await run.run(block)
      const text = block.body.join('\n')
      if (block.kind !== 'query' || lines === undefined || changing.test(text)) continue
      await expectSame(run, block)
    }
  })
})

async function expectSame(run: GoldenRun, block: Block): Promise<void> {
  const answer = await readAnswer(await run.ask(block, { separator: '\n' }))
  const rows = answer.rows.map((line) => parseJson(line) as JsonObject)
  const names = Object.keys(answer.schemas ?? {})
  const place = block.body.join(' ')

  const arrow = readArrow(await bytesOf(await run.ask(block, { format: 'arrow' })))
  expectRows(arrow, rows, names, `arrow: ${place}`)
  if (names.length > 0) {
    const file = await bytesOf(await run.ask(block, { format: 'parquet' }))
    const read = await parquet.read(file)
    expectRows(read, rows, names, `parquet: ${place}`)
    expect(read.columns, place).toEqual(arrow.columns)
  }
  const csv = await bytesOf(await run.ask(block, { format: 'csv' }))
  expectFields(readCsv(csv.toString()), arrow.columns, rows, `csv: ${place}`)
}

function expectFields(
  lines: readonly (readonly (string | null)[])[],
  columns: ReadTable['columns'],
  expected: readonly JsonObject[],
  place: string,
): void {
  if (columns.length === 0) return
  const [names, ...rows] = lines
  expect(names, place).toEqual(columns.map(({ name }) => name))
  const shown = expected.map((row) => names!.map((name) => shownValue(at(row, name!))))
  const read = rows.map((fields, i) =>
    fields.map((field, c) => shownValue(csvValue(field, at(expected[i] ?? {}, names![c]!)))),
  )
  expect(read, place).toEqual(shown)
}

/** CSV does not say which fields are texts: of a number, or of JSON, it is the text that counts. */
function csvValue(field: string | null, expected: Value): Value {
  return field === null || typeof expected === 'string' ? field : parseJson(field)
}

/** Rows may lack columns that the answer has, where they are null; never the other way round. */
function expectRows(
  { columns, rows }: ReadTable,
  expected: readonly JsonObject[],
  names: readonly string[],
  place: string,
): void {
  const known = columns.map(({ name }) => name)
  expect(known, place).toEqual(expect.arrayContaining([...names]))
  for (const row of expected) expect(known, place).toEqual(expect.arrayContaining(Object.keys(row)))
  const shown = expected.map((row) => known.map((name) => shownValue(at(row, name))))
  expect(
    rows.map((row) => row.map(shownValue)),
    place,
  ).toEqual(shown)
}

function at(row: JsonObject, name: string): Value {
  return Object.hasOwn(row, name) ? row[name]! : null
}

function shownValue(value: Value): string {
  return canonicalJson(wellFormed(value))
}

/** UTF-8 has no half of a surrogate pair. */
function wellFormed(value: Value): Value {
  if (typeof value === 'string') return Buffer.from(value).toString()
  if (Array.isArray(value)) return value.map(wellFormed)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, each]) => [key, wellFormed(each)]),
  )
}

async function bytesOf(result: QueryResult): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const { bytes } of result.rows) parts.push(bytes)
  return Buffer.concat(parts)
}
