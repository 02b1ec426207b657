/** Reads lines of files and of standard input, plain or gzip. */
import { createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AssayError } from '../error.ts'

export interface Line {
  /** From 1. */
  readonly number: number
  /** Without the line break. */
  readonly bytes: Buffer
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

/** `-` is standard input. Throws for a path that is no file. */
export function openSource(path: string): LineSource {
  if (path === '-') {
    return {
      label: 'standard input',
      name: '-',
      size: undefined,
      lines: (onRead) => readLines(process.stdin, onRead),
    }
  }
  const status = statSync(path, { throwIfNoEntry: false })
  if (!status) throw new AssayError('COMMAND_FAILED', `there is no file ${path}`)
  if (status.isDirectory())
    throw new AssayError('COMMAND_FAILED', `${path} is a directory, not a file`)
  return {
    label: path,
    name: basename(path),
    size: status.isFile() ? status.size : undefined,
    lines: (onRead) => readLines(createReadStream(path, { highWaterMark: 256 * 1024 }), onRead),
  }
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
