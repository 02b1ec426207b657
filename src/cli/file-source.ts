import { createReadStream, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AssayError } from '../error.ts'
import {
  formatOfName,
  hasLines,
  type ImportFormat,
  isTable,
  type ReadOptions,
  recordsOfParquet,
  recordsOfStream,
} from '../import/file-format.ts'
import type { BadLine, FileRecord } from '../import/file-record.ts'
import type { RandomFile } from '../import/parquet-records.ts'
import type { ImportSource, SourceRecord } from './import-source.ts'

export interface FileOptions extends ReadOptions {
  /** Undefined: by the file's name. */
  readonly format?: ImportFormat | undefined
}

/** Of a file that is long enough to be broken off, the next run can go on after each so many records. */
const recordsBetweenPlaces = 20_000

/**
 * `-` is standard input. The format is that of the file's name, unless it is given. Throws for a path
 * that is no file.
 */
export function openFile(path: string, options: FileOptions = {}): ImportSource {
  const format = options.format ?? formatOfName(path) ?? 'jsonl'
  const kind = { unit: hasLines(format) ? 'line' : 'row', isTable: isTable(format) } as const
  if (path === '-') {
    return {
      label: 'standard input',
      name: '-',
      ...kind,
      identity: undefined,
      size: async () => undefined,
      records: (_, onRead) => {
        const records = readStream(process.stdin, format, options, onRead)
        return withPlaces('standard input', records, 0)
      },
    }
  }
  const status = statSync(path, { throwIfNoEntry: false })
  if (!status) throw new AssayError('COMMAND_FAILED', `there is no file ${path}`)
  if (status.isDirectory())
    throw new AssayError('COMMAND_FAILED', `${path} is a directory, not a file`)
  const { size, mtimeMs } = status
  const read = (onRead: (bytes: number) => void) =>
    format === 'parquet'
      ? readParquet(path, size, options, onRead)
      : readStream(createReadStream(path, { highWaterMark: 256 * 1024 }), format, options, onRead)
  const isFile = status.isFile()
  return {
    label: path,
    name: basename(path),
    ...kind,
    identity: isFile ? [resolve(path), String(size), String(mtimeMs)] : undefined,
    size: async () => (isFile ? size : undefined),
    records: (from, onRead) => withPlaces(path, read(onRead), Number(from ?? 0)),
  }
}

/** The records after the first `skipped`, which are only read. */
async function* withPlaces(
  label: string,
  records: AsyncIterable<FileRecord | BadLine>,
  skipped: number,
): AsyncGenerator<SourceRecord> {
  let count = 0
  try {
    for await (const record of records) {
      if (++count <= skipped) continue
      yield count % recordsBetweenPlaces === 0 ? { record, position: String(count) } : { record }
    }
  } catch (error) {
    if (error instanceof AssayError) throw error
    throw new AssayError('COMMAND_FAILED', `${label} cannot be read: ${(error as Error).message}`)
  }
}

function readStream(
  input: Readable,
  format: ImportFormat,
  options: ReadOptions,
  onRead: (bytes: number) => void,
): AsyncGenerator<FileRecord | BadLine> {
  if (format !== 'parquet') return recordsOfStream(decompress(input, onRead), format, options)
  throw new AssayError('COMMAND_INVALID', 'Parquet is read from files, not from standard input')
}

async function* readParquet(
  path: string,
  size: number,
  options: ReadOptions,
  onRead: (bytes: number) => void,
): AsyncGenerator<FileRecord | BadLine> {
  const handle = await open(path)
  const file: RandomFile = {
    byteLength: size,
    slice: async (start, end = size) => {
      const bytes = new Uint8Array(Math.max(0, end - start))
      for (let at = 0; at < bytes.length; ) {
        const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at)
        if (bytesRead === 0) throw new Error('the file has become shorter')
        at += bytesRead
      }
      return bytes.buffer
    },
  }
  try {
    yield* recordsOfParquet(file, options, onRead)
  } finally {
    await handle.close()
  }
}

/** Tells gzip by its first two bytes, whatever the file is called. */
async function* decompress(
  input: Readable,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const chunks = counted(input, onRead)
  const first = await chunks.next()
  if (first.done) return
  const all = prepend(first.value, chunks)
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) {
    yield* all
    return
  }
  const gunzip = createGunzip({ chunkSize: 256 * 1024 })
  pipeline(all, gunzip, () => undefined)
  yield* gunzip
}

async function* counted(input: Readable, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk)
    onRead(bytes.length)
    yield bytes
  }
}

async function* prepend(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}
