/** Reads answers in other formats than JSON, by other readers than ours. */
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type DuckDBConnection,
  DuckDBInstance,
  DuckDBListValue,
  DuckDBTimestampTZValue,
} from '@duckdb/node-api'
import { DataType, tableFromIPC, type Vector } from 'apache-arrow'
import { expect } from 'vitest'
import type { ColumnType, TypedColumn } from '../../src/format/column-type.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import { formatTimestamp, parseTimestamp, timestampOf } from '../../src/type/time.ts'
import type { Value } from '../../src/type/value.ts'
import { writeJson } from '../../src/type/write-json.ts'
import { cellValue, hasPlainNames, readByParquetjs } from './parquetjs-rows.ts'

/** Values as their JSON has them, times as texts. */
export interface ReadTable {
  readonly columns: readonly TypedColumn[]
  readonly rows: readonly (readonly Value[])[]
}

export function readArrow(bytes: Uint8Array): ReadTable {
  const table = tableFromIPC(bytes)
  const columns = table.schema.fields.map(({ name, type, metadata }): TypedColumn => {
    return { name, type: metadata.get('assay:type') === 'json' ? 'json' : arrowType(type) }
  })
  const vectors = columns.map((_, i) => table.getChildAt(i)!)
  const rows = Array.from({ length: table.numRows }, (_, row) =>
    columns.map(({ type }, c) => {
      const value: unknown = vectors[c]!.get(row)
      if (value === null) return null
      // The library gives milliseconds in a double, which is too coarse for far times.
      if (type === 'timestamp') return timeText(storedAt(vectors[c]!, row))
      if (type === 'texts') return [...(value as Iterable<string>)]
      return asValue(value, type)
    }),
  )
  return { columns, rows }
}

/** What a column of 64-bit integers has in a row, as it is stored. */
function storedAt({ data }: Vector, row: number): bigint {
  let left = row
  for (const { length, values } of data) {
    if (left < length) return (values as BigInt64Array)[left]!
    left -= length
  }
  throw new Error(`there is no row ${row}`)
}

function timeText(microseconds: bigint): string {
  const rest = ((microseconds % 1000n) + 1000n) % 1000n
  return formatTimestamp(timestampOf(Number((microseconds - rest) / 1000n), Number(rest)))
}

function arrowType(type: DataType): ColumnType {
  if (DataType.isBool(type)) return 'boolean'
  if (DataType.isFloat(type)) return 'number'
  if (DataType.isInt(type)) return 'integer'
  if (DataType.isTimestamp(type)) return 'timestamp'
  if (DataType.isList(type)) return 'texts'
  return 'text'
}

/** Reads files of Parquet with DuckDB, and holds what it finds to what another reader finds. */
export class ParquetFiles {
  readonly #connection: DuckDBConnection
  #count = 0

  private constructor(connection: DuckDBConnection) {
    this.#connection = connection
  }

  static async open(): Promise<ParquetFiles> {
    const instance = await DuckDBInstance.create()
    return new ParquetFiles(await instance.connect())
  }

  async read(bytes: Uint8Array): Promise<ReadTable> {
    const path = join(tmpdir(), `assay-format-${process.pid}-${this.#count++}.parquet`)
    await writeFile(path, bytes)
    try {
      const table = await this.#read(path)
      if (hasPlainNames(table.columns)) await checkByParquetjs(bytes, table)
      return table
    } finally {
      await rm(path)
    }
  }

  /** What DuckDB takes the columns for. */
  async types(path: string): Promise<Record<string, string>> {
    const reader = await this.#connection.runAndReadAll(`DESCRIBE SELECT * FROM '${path}'`)
    return Object.fromEntries(reader.getRowsJson().map(([name, type]) => [name, type]))
  }

  close(): void {
    this.#connection.closeSync()
  }

  async #read(path: string): Promise<ReadTable> {
    const about = await this.#connection.runAndReadAll(
      `SELECT decode(value) FROM parquet_kv_metadata('${path}') WHERE decode(key) = 'assay.columns'`,
    )
    const columns = JSON.parse(String(about.getRowsJson()[0]![0])) as TypedColumn[]
    const reader = await this.#connection.runAndReadAll(`SELECT * FROM '${path}'`)
    const rows = reader.getRows().map((row) =>
      row.map((value, c): Value => {
        if (value === null) return null
        if (value instanceof DuckDBTimestampTZValue) return timeText(value.micros)
        if (value instanceof DuckDBListValue) return value.items as Value[]
        return asValue(value, columns[c]!.type)
      }),
    )
    return { columns, rows }
  }
}

/** Throws where the other reader finds something else. It cuts times to milliseconds, towards 1970. */
async function checkByParquetjs(bytes: Uint8Array, { columns, rows }: ReadTable): Promise<void> {
  const others = await readByParquetjs(bytes, columns)
  const shown = (row: readonly Value[]) => row.map((value) => writeJson(value))
  const expected = rows.map((row) =>
    shown(
      row.map((value, c) => {
        if (value === null || columns[c]!.type !== 'timestamp') return value
        const { ms, microseconds } = parseTimestamp(value as string)!
        return Math.trunc(ms < 0 && microseconds > 0 ? ms + 1 : ms) + 0
      }),
    ),
  )
  const found = others.map((row) =>
    shown(row.map((cell, c) => cellValue(cell, (each) => asValue(each, columns[c]!.type)))),
  )
  expect(found).toEqual(expected)
}

function asValue(value: unknown, type: ColumnType): Value {
  if (type === 'json') return parseJson(String(value))
  // As our own numbers are: a `bigint` only where a double is not enough.
  if (typeof value === 'bigint') return parseJson(String(value))
  return value as Value
}

/** Fields of CSV by RFC 4180; null where a field is empty and has no quotes. */
export function readCsv(text: string): (string | null)[][] {
  const rows: (string | null)[][] = []
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy
  let row: (string | null)[] = []
  while (field.lastIndex < text.length) {
    const at = field.lastIndex
    const match = field.exec(text)
    if (!match) throw new Error(`no field at ${at}: ${text.slice(at, at + 100)}`)
    const [, quoted, plain, end] = match
    row.push(quoted === undefined ? plain || null : quoted.replaceAll('""', '"'))
    if (end === '\r\n') {
      rows.push(row)
      row = []
    }
  }
  return rows
}
