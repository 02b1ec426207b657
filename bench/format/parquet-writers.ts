/**
 * Two writers of Parquet beside each other: that of the service, which takes columns, and
 * @dsnp/parquetjs, which takes a row at a time. Both write the same rows with gzip, in row groups of
 * one batch; DuckDB reads both files and has to find the same in them.
 */

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import parquet from '@dsnp/parquetjs'
import { DuckDBInstance } from '@duckdb/node-api'
import { generateSpans } from '../../src/demo/generate.ts'
import type { ColumnData } from '../../src/format/column-data.ts'
import type { TypedColumn } from '../../src/format/column-type.ts'
import { ParquetFooter, parquetHead, parquetRowGroup } from '../../src/format/parquet-file.ts'
import type { Texts } from '../../src/vector/column.ts'
import { formatTable, median } from '../table.ts'

const rowCount = 50_000
const batchRows = 8192
const runs = 5

interface Row {
  readonly id: string
  readonly created: Date
  readonly name: string
  readonly tokens: number
  readonly output: string
}

const columns: readonly TypedColumn[] = [
  { name: 'id', type: 'text' },
  { name: 'created', type: 'timestamp' },
  { name: 'name', type: 'text' },
  { name: 'tokens', type: 'number' },
  { name: 'output', type: 'json' },
]

export interface WriterResult {
  readonly writer: string
  readonly milliseconds: number
  readonly bytes: number
}

/** Medians of runs that take turns. Throws when the files do not say the same. */
export async function runParquetWriters(): Promise<WriterResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'assay-parquet-'))
  const rows = makeRows()
  const writers = [
    { name: 'columns (hyparquet-writer)', write: writeColumns, times: [] as number[] },
    { name: 'rows (@dsnp/parquetjs)', write: writeRows, times: [] as number[] },
  ].map((writer, i) => ({ ...writer, path: join(directory, `${i}.parquet`) }))
  try {
    for (let run = 0; run < runs; run++) {
      for (const { write, path, times } of writers) {
        const started = performance.now()
        await write(rows, path)
        times.push(performance.now() - started)
      }
    }
    const [first, ...others] = await Promise.all(writers.map(({ path }) => digest(path)))
    if (others.some((other) => other !== first)) throw new Error('the files differ')
    const results = writers.map(({ name, times, path }) => {
      return { writer: name, milliseconds: median(times), bytes: statSync(path).size }
    })
    const fastest = Math.min(...results.map(({ milliseconds }) => milliseconds))
    const lines = results.map(({ writer, milliseconds, bytes }) => {
      const times = (milliseconds / fastest).toFixed(1)
      return [writer, milliseconds.toFixed(0), times, (bytes / 1e6).toFixed(2)]
    })
    console.log(`\n${rowCount} rows of Parquet`)
    console.log(formatTable([['writer', 'ms', 'times the fastest', 'MB'], ...lines]))
    return results
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function makeRows(): Row[] {
  const spans = generateSpans({ seed: 1, count: rowCount, start: 1.76e12, kind: 'logs' })
  return [...spans].map(({ id, created, span_attributes, metrics, output }) => ({
    id,
    created: new Date(created),
    name: span_attributes.name,
    tokens: metrics.tokens ?? 0,
    output: JSON.stringify(output ?? null),
  }))
}

function writeColumns(rows: readonly Row[], path: string): void {
  const footer = new ParquetFooter(columns)
  const parts = [parquetHead()]
  for (let from = 0; from < rows.length; from += batchRows) {
    const batch = rows.slice(from, from + batchRows)
    const group = parquetRowGroup(columns, columnsOf(batch), batch.length)
    footer.add(group)
    parts.push(group.bytes)
  }
  writeFileSync(path, Buffer.concat([...parts, footer.finish()]))
}

/** As the engine has them; making them is part of the time. */
function columnsOf(rows: readonly Row[]): ColumnData[] {
  const common = { rowCount: rows.length, valid: undefined }
  const texts = (field: 'id' | 'name' | 'output'): ColumnData => {
    return { ...common, kind: 'texts', texts: textsOf(rows.map((row) => row[field])) }
  }
  const times = BigInt64Array.from(rows, ({ created }) => BigInt(created.getTime()) * 1000n)
  const tokens = Float64Array.from(rows, (row) => row.tokens)
  return [
    texts('id'),
    { ...common, kind: 'integers', values: times },
    texts('name'),
    { ...common, kind: 'numbers', values: tokens },
    texts('output'),
  ]
}

function textsOf(values: readonly string[]): Texts {
  const parts = values.map((value) => Buffer.from(value))
  const offsets = new Int32Array(parts.length + 1)
  parts.forEach((part, i) => {
    offsets[i + 1] = offsets[i]! + part.length
  })
  return { bytes: Buffer.concat(parts), offsets }
}

async function writeRows(rows: readonly Row[], path: string): Promise<void> {
  const schema = new parquet.ParquetSchema({
    id: { type: 'UTF8', compression: 'GZIP' },
    created: { type: 'TIMESTAMP_MILLIS', compression: 'GZIP' },
    name: { type: 'UTF8', compression: 'GZIP' },
    tokens: { type: 'DOUBLE', compression: 'GZIP' },
    output: { type: 'UTF8', compression: 'GZIP' },
  })
  const writer = await parquet.ParquetWriter.openFile(schema, path)
  writer.setRowGroupSize(batchRows)
  for (const row of rows) await writer.appendRow({ ...row })
  await writer.close()
}

async function digest(path: string): Promise<string> {
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  const reader = await connection.runAndReadAll(
    `select count(*), sum(tokens), min(epoch_ms(created)), max(epoch_ms(created)),
       sum(length(name)), sum(length(output)), bit_xor(hash(id)), bit_xor(hash(output))
     from read_parquet('${path}')`,
  )
  connection.closeSync()
  return JSON.stringify(reader.getRows(), (_, value: unknown) => {
    return typeof value === 'bigint' ? String(value) : value
  })
}
