/** Reads records of files and of standard input: JSON lines and CSV, plain or gzip, and Parquet. */
import { createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AssayError } from '../error.ts'
import { csvLines } from './csv-source.ts'
import type { ImportFormat } from './import-format.ts'
import { parquetLines } from './parquet-source.ts'

export interface Line {
  /** From 1. */
  readonly number: number
  /** A record as JSON, without the line break. */
  readonly bytes: Buffer
  /** Why there is no record, where that is known already. */
  readonly fault?: string
}

export interface LineSource {
  /** As messages show it. */
  readonly label: string
  /** As ids made from it have it: the same wherever the file is. */
  readonly name: string
  /** Bytes of the file; undefined for standard input. */
  readonly size: number | undefined
  /** Opens it; `onRead` is told of the bytes read, before decompression. */
  lines(onRead: (bytes: number) => void): AsyncGenerator<Line>
}

/**
 * `-` is standard input. The format is that of the file's name, unless it is given. Throws for a path
 * that is no file.
 */
export function openSource(path: string, given?: ImportFormat): LineSource {
  const format = given ?? formatOf(path)
  if (path === '-') {
    return {
      label: 'standard input',
      name: '-',
      size: undefined,
      lines: (onRead) => readRecords(process.stdin, format, onRead),
    }
  }
  const status = statSync(path, { throwIfNoEntry: false })
  if (!status) throw new AssayError('COMMAND_FAILED', `there is no file ${path}`)
  if (status.isDirectory())
    throw new AssayError('COMMAND_FAILED', `${path} is a directory, not a file`)
  if (format === 'parquet') {
    const { size } = status
    const lines: LineSource['lines'] = (onRead) => parquetLines(path, size, onRead)
    return { label: path, name: basename(path), size, lines }
  }
  return {
    label: path,
    name: basename(path),
    size: status.isFile() ? status.size : undefined,
    lines: (onRead) => {
      const input = createReadStream(path, { highWaterMark: 256 * 1024 })
      return readRecords(input, format, onRead)
    },
  }
}

function formatOf(path: string): ImportFormat {
  const ending = path.toLowerCase().match(/\.(csv|parquet)(\.gz)?$/)?.[1]
  return ending === 'csv' || ending === 'parquet' ? ending : 'jsonl'
}

function readRecords(
  input: Readable,
  format: ImportFormat,
  onRead: (bytes: number) => void,
): AsyncGenerator<Line> {
  if (format === 'csv') return csvLines(decompress(input, onRead))
  if (format === 'jsonl') return readLines(input, onRead)
  throw new AssayError('COMMAND_INVALID', 'Parquet is read from files, not from standard input')
}

async function* readLines(input: Readable, onRead: (bytes: number) => void) {
  let number = 0
  // A line may come in many pieces; they are joined once, when it is complete.
  let pieces: Buffer[] = []
  for await (const chunk of decompress(input, onRead)) {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      pieces.push(chunk.subarray(start, end))
      yield { number: ++number, bytes: join(pieces) }
      pieces = []
      start = end + 1
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start))
  }
  if (pieces.length > 0) yield { number: ++number, bytes: join(pieces) }
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

function join(pieces: Buffer[]): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}
