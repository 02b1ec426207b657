/** Generated rows on disk: one file of JSON lines that every system is loaded from. */
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { showProgress } from '../report/progress.ts'
import { SpanWriter, seed } from './span-writer.ts'

export const rowsPerBatch = 1000

export interface DataFile {
  readonly path: string
  readonly rows: number
  readonly bytes: number
  /** Where each batch of `rowsPerBatch` rows begins, and where the last ends. */
  readonly begins: readonly number[]
  readonly seed: number
  /** Ids of a row and of a trace in the middle, and when that row was created. */
  readonly middle: { readonly id: string; readonly trace: string; readonly created: string }
}

/** To be raised when the generator writes other rows than before. */
export const version = 3

/** Writes the rows, or takes those of an earlier run. */
export function openDataFile(directory: string, rows: number): DataFile {
  const name = `spans-${rows}-v${version}`
  const description = join(directory, `${name}.json`)
  if (existsSync(description)) return JSON.parse(readFileSync(description, 'utf8')) as DataFile
  const path = join(directory, `${name}.ndjson`)
  const file = openSync(path, 'w')
  const writer = new SpanWriter(seed)
  const begins = [0]
  let bytes = 0
  for (let done = 0; done < rows; done += rowsPerBatch) {
    const batch = writer.next(Math.min(rowsPerBatch, rows - done))
    writeSync(file, batch)
    bytes += batch.length
    begins.push(bytes)
    if (done % 50_000 === 0) showProgress(`generating: ${done} of ${rows} rows`)
  }
  closeSync(file)
  const data = { path, rows, bytes, begins, seed }
  const whole = { ...data, middle: middleOf(data) }
  writeFileSync(description, JSON.stringify(whole))
  return whole
}

/** Reads batch after batch of the file. */
export class BatchReader {
  readonly #data: Pick<DataFile, 'path' | 'begins'>
  readonly #file: number

  constructor(data: Pick<DataFile, 'path' | 'begins'>) {
    this.#data = data
    this.#file = openSync(data.path, 'r')
  }

  get count(): number {
    return this.#data.begins.length - 1
  }

  /** Lines, each ended by a line break. */
  lines(batch: number): Buffer {
    const { begins } = this.#data
    const [begin, end] = [begins[batch]!, begins[batch + 1]!]
    const lines = Buffer.allocUnsafe(end - begin)
    readSync(this.#file, lines, 0, lines.length, begin)
    return lines
  }

  /** The batch as the body of an insert. */
  body(batch: number): Buffer {
    const { begins } = this.#data
    const [begin, end] = [begins[batch]!, begins[batch + 1]!]
    const head = '{"events":['
    const body = Buffer.allocUnsafe(head.length + end - begin + 1)
    body.write(head)
    readSync(this.#file, body, head.length, end - begin, begin)
    // Line breaks stand between rows only: within texts they are escaped.
    for (let at = body.indexOf(10); at >= 0; at = body.indexOf(10, at + 1)) body[at] = 0x2c
    body.write(']}', body.length - 2)
    return body
  }

  close(): void {
    closeSync(this.#file)
  }
}

function middleOf(data: Pick<DataFile, 'path' | 'begins'>): DataFile['middle'] {
  const reader = new BatchReader(data)
  const lines = reader
    .lines(reader.count >> 1)
    .toString()
    .split('\n')
  reader.close()
  const { id, root_span_id: trace, created } = JSON.parse(lines[0]!) as Record<string, string>
  return { id: id!, trace: trace!, created: created! }
}
