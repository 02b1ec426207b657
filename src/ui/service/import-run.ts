/** Writes the records of a file to a dataset, and says which of them could not be written. */
import { type EventForm, eventOf } from '../../import/event.ts'
import {
  formatOfBytes,
  formatOfName,
  type ImportFormat,
  isTable,
  type ReadOptions,
  recordsOfFile,
} from '../../import/file-format.ts'
import { type BadLine, isBadLine, reasonOf } from '../../import/file-record.ts'
import type { ImportFile, OnRead } from '../../import/import-file.ts'
import { ServiceError } from './client.ts'
import { insertTexts } from './dataset.ts'

export interface ImportProgress {
  readonly bytes: number
  readonly written: number
  readonly bad: readonly BadLine[]
  /** Of `bad`, also those that are not in it. */
  readonly badCount: number
}

export interface ImportOptions {
  readonly datasetId: string
  readonly format: ImportFormat
  readonly read: ReadOptions
  readonly targetOf: EventForm['targetOf']
  readonly onProgress: (progress: ImportProgress) => void
  readonly signal: AbortSignal
}

/** Of a request. */
const mostRecords = 1000
const mostCharacters = 4_000_000

/** Bad lines that are named; of others only the number is told. */
const mostNamed = 500

interface Written {
  readonly line: number
  readonly text: string
}

/** By its name, or by how it begins. */
export async function formatOf(file: File): Promise<ImportFormat> {
  const head = new Uint8Array(await file.slice(0, 1000).arrayBuffer())
  return formatOfName(file.name) ?? formatOfBytes(head)
}

/** A file that a browser has, as one to import. */
export function importableFile(file: File): ImportFile {
  return {
    stream: (onRead) => chunksOf(file, onRead),
    random: {
      byteLength: file.size,
      slice: (start, end) => file.slice(start, end).arrayBuffer(),
    },
  }
}

async function* chunksOf(file: File, onRead: OnRead): AsyncGenerator<Uint8Array> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const isCompressed = first === 0x1f && second === 0x8b
  const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      onRead(chunk.length)
      controller.enqueue(chunk)
    },
  })
  const bytes = file.stream().pipeThrough(counted)
  const stream = isCompressed ? bytes.pipeThrough(new DecompressionStream('gzip')) : bytes
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}

/** What was written before it is abandoned, or before it fails, stays. */
export async function importFile(file: File, options: ImportOptions): Promise<ImportProgress> {
  const { datasetId, format, read, targetOf, onProgress, signal } = options
  const form = { isTable: isTable(format), targetOf }
  const bad: BadLine[] = []
  let [bytes, written, badCount, characters] = [0, 0, 0, 0]
  let batch: Written[] = []
  const progress = () => ({ bytes, written, bad: [...bad], badCount })
  const refuse = (line: BadLine) => {
    badCount++
    if (bad.length < mostNamed) bad.push(line)
  }
  const flush = async () => {
    const records = batch
    batch = []
    characters = 0
    written += await writeAll(datasetId, records, refuse, signal)
    onProgress(progress())
  }
  const onRead = (size: number) => {
    bytes += size
  }
  for await (const record of recordsOfFile(importableFile(file), format, read, onRead)) {
    signal.throwIfAborted()
    if (isBadLine(record)) {
      refuse(record)
      continue
    }
    try {
      const { text } = eventOf(record, form)
      batch.push({ line: record.line, text })
      characters += text.length
    } catch (error) {
      refuse({ line: record.line, fault: reasonOf(error) })
    }
    if (batch.length === mostRecords || characters > mostCharacters) await flush()
  }
  if (batch.length > 0) await flush()
  bytes = file.size
  return progress()
}

/** Halves what is refused until the records that are at fault are found. */
async function writeAll(
  datasetId: string,
  records: readonly Written[],
  refuse: (line: BadLine) => void,
  signal: AbortSignal,
): Promise<number> {
  if (records.length === 0) return 0
  try {
    await insertTexts(
      datasetId,
      records.map(({ text }) => text),
      signal,
    )
    return records.length
  } catch (thrown) {
    if (!(thrown instanceof ServiceError) || thrown.status !== 400) throw thrown
    const [first] = records
    if (first && records.length === 1) {
      refuse({ line: first.line, fault: thrown.message })
      return 0
    }
    const middle = Math.ceil(records.length / 2)
    const before = await writeAll(datasetId, records.slice(0, middle), refuse, signal)
    return before + (await writeAll(datasetId, records.slice(middle), refuse, signal))
  }
}
