/** Files of records in any format, read in pieces. */
import { type ColumnTypes, readColumnTypes } from './column-types.ts'
import { csvRecords } from './csv-records.ts'
import { toUtf8 } from './encoding.ts'
import type { BadLine, FileRecord } from './file-record.ts'
import type { ImportFile, OnRead } from './import-file.ts'
import { jsonRecords } from './json-records.ts'

export const importFormats = ['jsonl', 'csv', 'parquet', 'arrow'] as const
/** `jsonl` also stands for arrays of JSON. */
export type ImportFormat = (typeof importFormats)[number]

/** Whether records are numbered by lines, and not by rows. */
export function hasLines(format: ImportFormat): boolean {
  return format === 'jsonl' || format === 'csv'
}

/** Whether nested fields have columns of their own. */
export function isTable(format: ImportFormat): boolean {
  return format !== 'jsonl'
}

const formatsByEnding: Readonly<Record<string, ImportFormat>> = {
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  json: 'jsonl',
  csv: 'csv',
  tsv: 'csv',
  parquet: 'parquet',
  arrow: 'arrow',
  arrows: 'arrow',
  feather: 'arrow',
  ipc: 'arrow',
}

/** By the ending of its name; undefined when that tells nothing. */
export function formatOfName(name: string): ImportFormat | undefined {
  const ending = /\.([a-z]+)(?:\.gz)?$/.exec(name.toLowerCase())?.[1]
  return ending !== undefined && Object.hasOwn(formatsByEnding, ending)
    ? formatsByEnding[ending]
    : undefined
}

/** By how a file begins, where its name tells nothing. What is compressed is taken for JSON. */
export function formatOfBytes(head: Uint8Array): ImportFormat {
  const text = String.fromCharCode(...head.subarray(0, 64))
  if (text.startsWith('PAR1')) return 'parquet'
  if (text.startsWith('ARROW1') || text.startsWith('\xff\xff\xff\xff')) return 'arrow'
  if (text.startsWith('\x1f\x8b')) return 'jsonl'
  return /^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*[[{]/.test(text) ? 'jsonl' : 'csv'
}

export interface ReadOptions {
  /** Of CSV; undefined: found by looking at the beginning. */
  readonly delimiter?: string | undefined
  /** Of JSON and CSV; undefined: as its mark says, or UTF-8. */
  readonly encoding?: string | undefined
  readonly types?: ColumnTypes | undefined
  /** Of CSV: whether formulas were escaped when it was written (`type/formula-text.ts`). */
  readonly hasEscapedFormulas?: boolean | undefined
}

/** The records of a file, and what is none. Throws when the file as a whole cannot be read. */
export async function* recordsOfFile(
  file: ImportFile,
  format: ImportFormat,
  { delimiter, encoding, types = readColumnTypes(), hasEscapedFormulas }: ReadOptions = {},
  onRead: OnRead = () => {},
): AsyncGenerator<FileRecord | BadLine> {
  switch (format) {
    case 'jsonl':
      yield* jsonRecords(toUtf8(file.stream(onRead), encoding))
      return
    case 'csv':
      yield* csvRecords(toUtf8(file.stream(onRead), encoding), {
        delimiter,
        types,
        hasEscapedFormulas,
      })
      return
    case 'arrow':
      yield* (await import('./arrow-records.ts')).arrowRecords(file, types, onRead)
      return
    case 'parquet':
      if (!file.random) throw new Error('Parquet is read from a file, not from a stream')
      yield* (await import('./parquet-records.ts')).parquetRecords(file.random, types, onRead)
  }
}
