import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AssayError } from '../error.ts'
import {
  formatOfBytes,
  formatOfName,
  hasLines,
  type ImportFormat,
  isTable,
  type ReadOptions,
  recordsOfFile,
} from '../import/file-format.ts'
import type { BadLine, FileRecord } from '../import/file-record.ts'
import type { OnRead, RandomFile } from '../import/import-file.ts'
import type { ImportSource, SourceRecord } from './import-source.ts'

export interface FileOptions extends ReadOptions {
  /** Undefined: by the file's name. */
  readonly format?: ImportFormat | undefined
}

/** Of a file that is long enough to be broken off, the next run can go on after each so many records. */
const recordsBetweenPlaces = 20_000

/**
 * `-` is standard input. The format is that of the file's name or beginning, unless it is given; of what can be read
 * only once it is JSON lines. Throws for a path that is no file.
 */
export function openFile(path: string, options: FileOptions = {}): ImportSource {
  const given = options.format ?? formatOfName(path)
  if (path === '-') {
    const format = given ?? 'jsonl'
    if (format === 'parquet') {
      throw new AssayError('COMMAND_INVALID', 'Parquet is read from files, not from standard input')
    }
    const stream = (onRead: OnRead) => decompress(process.stdin, onRead)
    return {
      label: 'standard input',
      name: '-',
      ...kindOf(format),
      identity: undefined,
      size: async () => undefined,
      records: (_, onRead) => {
        const records = recordsOfFile({ stream, random: undefined }, format, options, onRead)
        return withPlaces('standard input', records, 0)
      },
    }
  }
  const status = statSync(path, { throwIfNoEntry: false })
  if (!status) throw new AssayError('COMMAND_FAILED', `there is no file ${path}`)
  if (status.isDirectory())
    throw new AssayError('COMMAND_FAILED', `${path} is a directory, not a file`)
  const { size, mtimeMs } = status
  const isFile = status.isFile()
  const format = given ?? (isFile ? formatOfBytes(beginningOf(path)) : 'jsonl')
  return {
    label: path,
    name: basename(path),
    ...kindOf(format),
    identity: isFile ? [resolve(path), String(size), String(mtimeMs)] : undefined,
    size: async () => (isFile ? size : undefined),
    records: (from, onRead) => {
      const random = isFile ? new RandomReader(path, size) : undefined
      const records = recordsOfPath(path, random, format, options, onRead)
      return withPlaces(path, records, Number(from ?? 0))
    },
  }
}

function kindOf(format: ImportFormat): Pick<ImportSource, 'unit' | 'isTable'> {
  return { unit: hasLines(format) ? 'line' : 'row', isTable: isTable(format) }
}

function beginningOf(path: string): Buffer {
  const bytes = Buffer.alloc(1000)
  const descriptor = openSync(path, 'r')
  try {
    return bytes.subarray(0, readSync(descriptor, bytes))
  } finally {
    closeSync(descriptor)
  }
}

async function* recordsOfPath(
  path: string,
  random: RandomReader | undefined,
  format: ImportFormat,
  options: ReadOptions,
  onRead: OnRead,
): AsyncGenerator<FileRecord | BadLine> {
  const stream = (onChunk: OnRead) =>
    decompress(createReadStream(path, { highWaterMark: 256 * 1024 }), onChunk)
  try {
    yield* recordsOfFile({ stream, random }, format, options, onRead)
  } finally {
    await random?.close()
  }
}

/** Opens its file when something is read of it. */
class RandomReader implements RandomFile {
  readonly byteLength: number
  readonly #path: string
  #handle: Promise<FileHandle> | undefined

  constructor(path: string, byteLength: number) {
    this.#path = path
    this.byteLength = byteLength
  }

  async slice(start: number, end = this.byteLength): Promise<ArrayBuffer> {
    this.#handle ??= open(this.#path)
    const handle = await this.#handle
    const bytes = new Uint8Array(Math.max(0, Math.min(end, this.byteLength) - start))
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at)
      if (bytesRead === 0) throw new Error('it has become shorter')
      at += bytesRead
    }
    return bytes.buffer
  }

  async close(): Promise<void> {
    await (await this.#handle)?.close()
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
