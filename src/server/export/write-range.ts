/** Writes the rows of one range of transactions as one file. */
import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Engine, QueryRequest, QueryResult } from '../../engine.ts'
import { formatTransaction } from '../../type/transaction.ts'
import type { Destination, DestinationFile } from './destination.ts'
import { type ExportRule, tracesSince } from './export-rule.ts'
import type { ExportRange } from './export-states.ts'

export interface WrittenFile {
  readonly rows: number
  readonly bytes: number
  /** Undefined where there are no rows, and so no file. */
  readonly sha256: string | undefined
}

export interface RangeTask {
  readonly engine: Engine
  readonly rule: ExportRule
  /** The query as it is asked without a range. */
  readonly request: QueryRequest
  /** Whether each record passes by itself; otherwise the query is answered anew as of the range's end. */
  readonly isOfRecords: boolean
  readonly range: ExportRange
  readonly signal: AbortSignal
}

const compressionLevel = 3

export async function writeRange(
  task: RangeTask,
  destination: Destination,
  path: string,
): Promise<WrittenFile> {
  const result = await task.engine.query(requestOf(task))
  const hash = createHash('sha256')
  const counted = { rows: 0, bytes: 0 }
  let file: DestinationFile | undefined
  try {
    for await (const bytes of partsOf(task.rule, result, counted)) {
      task.signal.throwIfAborted()
      hash.update(bytes)
      counted.bytes += bytes.length
      file ??= await destination.create(path)
      await file.append([bytes])
    }
    task.signal.throwIfAborted()
    if (!file) return { rows: 0, bytes: 0, sha256: undefined }
    await file.keep()
    return { ...counted, sha256: hash.digest('hex') }
  } catch (thrown) {
    await file?.abandon()
    throw thrown
  }
}

function requestOf({ rule, request, isOfRecords, range, signal }: RangeTask): QueryRequest {
  const query = rule.kind === 'traces' ? tracesSince(rule, range.after) : request.query
  return {
    ...request,
    query,
    version: formatTransaction(range.through),
    ...(isOfRecords && { since: formatTransaction(range.after) }),
    format: rule.format,
    separator: '\n',
    signal,
  }
}

/** The bytes of a file; none where there are no rows. */
function partsOf(
  rule: ExportRule,
  result: QueryResult,
  counted: { rows: number },
): AsyncIterable<Uint8Array> {
  const bytes = rowBytes(result, rule.format === 'jsonl', counted)
  return rule.isCompressed ? compressed(bytes) : bytes
}

const newline = Buffer.from('\n')

async function* rowBytes(
  { rows }: QueryResult,
  isLines: boolean,
  counted: { rows: number },
): AsyncGenerator<Uint8Array> {
  /** What stands before the first row. */
  const head: Uint8Array[] = []
  for await (const { rowCount, bytes } of rows) {
    counted.rows += rowCount
    if (counted.rows === 0) {
      head.push(bytes)
      continue
    }
    yield* head.splice(0)
    yield bytes
    if (isLines && rowCount > 0) yield newline
  }
}

/** None of none: an empty file would have bytes, too. */
async function* compressed(source: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const first = await source.next()
  if (first.done) return
  const gzip = createGzip({ level: compressionLevel })
  const fed = pipeline(async function* () {
    yield first.value
    yield* source
  }, gzip)
  // Whoever reads is told.
  fed.catch(() => undefined)
  for await (const part of gzip) yield part as Uint8Array
  await fed
}
