/** Files of records in any format, read in pieces. */
import { type ColumnTypes, readColumnTypes } from './column-types.ts'
import { csvRecords } from './csv-records.ts'
import { toUtf8 } from './encoding.ts'
import type { BadLine, FileRecord } from './file-record.ts'
import { jsonRecords } from './json-records.ts'
import type { RandomFile } from './parquet-records.ts'

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

export interface ReadOptions {
  /** Of CSV; undefined: found by looking at the beginning. */
  readonly delimiter?: string | undefined
  /** Of JSON and CSV; undefined: as its mark says, or UTF-8. */
  readonly encoding?: string | undefined
  readonly types?: ColumnTypes | undefined
}

/** @param chunks of the file, after decompression */
export async function* recordsOfStream(
  chunks: AsyncIterable<Uint8Array>,
  format: Exclude<ImportFormat, 'parquet'>,
  { delimiter, encoding, types = readColumnTypes() }: ReadOptions = {},
): AsyncGenerator<FileRecord | BadLine> {
  if (format === 'jsonl') yield* jsonRecords(toUtf8(chunks, encoding))
  else if (format === 'csv') yield* csvRecords(toUtf8(chunks, encoding), { delimiter, types })
  else yield* (await import('./arrow-records.ts')).arrowRecords(chunks, types)
}

/** @param onRead told which part of the file has been read since the last time */
export async function* recordsOfParquet(
  file: RandomFile,
  { types = readColumnTypes() }: ReadOptions,
  onRead: (bytes: number) => void,
): AsyncGenerator<FileRecord | BadLine> {
  yield* (await import('./parquet-records.ts')).parquetRecords(file, types, onRead)
}
