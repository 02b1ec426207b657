/** Writes the records of a file to a dataset, and says which of them could not be written. */
import { ServiceError } from './client.ts'
import { insertTexts } from './dataset.ts'
import type { Library } from './field-text.ts'
import {
  type BadLine,
  eventOf,
  type FileKind,
  type FileRecord,
  recordsOfFile,
  type Target,
} from './import-file.ts'

export interface ImportProgress {
  readonly bytes: number
  readonly written: number
  readonly bad: readonly BadLine[]
  /** Of `bad`, also those that are not in it. */
  readonly badCount: number
}

export interface ImportOptions {
  readonly datasetId: string
  readonly kind: FileKind
  readonly targetOf: (column: string) => Target
  readonly library: Library
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

/** What was written before it is abandoned, or before it fails, stays. */
export async function importFile(file: File, options: ImportOptions): Promise<ImportProgress> {
  const { datasetId, kind, targetOf, library, onProgress, signal } = options
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
  const onBytes = (read: number) => {
    bytes = read
  }
  for await (const record of recordsOfFile(file, { kind, library, onBytes })) {
    signal.throwIfAborted()
    const event = 'fault' in record ? record : eventOf(record as FileRecord, targetOf)
    if ('fault' in event) {
      refuse({ line: record.line, fault: event.fault })
      continue
    }
    batch.push({ line: record.line, text: event.text })
    characters += event.text.length
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
