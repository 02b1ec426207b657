/** Reads records of files and of standard input: JSON lines and CSV, plain or gzip, and Parquet. */
import { createReadStream, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AssayError } from '../error.ts'
import { csvLines } from './csv-source.ts'
import type { ImportFormat } from './import-format.ts'
import type { ImportSource, Line } from './import-source.ts'
import { parquetLines } from './parquet-source.ts'

/** Of a file that is long enough to be broken off, the next run can go on after each so many lines. */
const linesBetweenPlaces = 20_000

/**
 * `-` is standard input. The format is that of the file's name, unless it is given. Throws for a path
 * that is no file.
 */
export function openFile(path: string, given?: ImportFormat): ImportSource {
  const format = given ?? formatOf(path)
  if (path === '-') {
    return {
      label: 'standard input',
      name: '-',
      identity: undefined,
      size: async () => undefined,
      lines: (_, onRead) => readRecords(process.stdin, format, onRead),
    }
  }
  const status = statSync(path, { throwIfNoEntry: false })
  if (!status) throw new AssayError('COMMAND_FAILED', `there is no file ${path}`)
  if (status.isDirectory())
    throw new AssayError('COMMAND_FAILED', `${path} is a directory, not a file`)
  const { size, mtimeMs } = status
  const open = (onRead: (bytes: number) => void) =>
    format === 'parquet'
      ? parquetLines(path, size, onRead)
      : readRecords(createReadStream(path, { highWaterMark: 256 * 1024 }), format, onRead)
  const isFile = status.isFile()
  return {
    label: path,
    name: basename(path),
    identity: isFile ? [resolve(path), String(size), String(mtimeMs)] : undefined,
    size: async () => (isFile ? size : undefined),
    lines: (from, onRead) => linesWithPlaces(path, open(onRead), Number(from ?? 0)),
  }
}

/** The lines after the first `skipped`, which are only read. */
async function* linesWithPlaces(path: string, lines: AsyncIterable<Line>, skipped: number) {
  let count = 0
  try {
    for await (const line of lines) {
      if (++count <= skipped) continue
      yield count % linesBetweenPlaces === 0 ? { ...line, position: String(count) } : line
    }
  } catch (error) {
    throw new AssayError('COMMAND_FAILED', `${path} cannot be read: ${(error as Error).message}`)
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
