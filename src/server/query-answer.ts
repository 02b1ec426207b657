/** Turns the result of a query into the body of an answer, without waiting for all of its rows. */
import type { QueryResult, QuerySummary } from '../engine.ts'
import type { QueryWarning } from '../planner/lint.ts'
import type { RowChunk } from '../scheduler/run-plan.ts'
import type { Reply } from './reply.ts'

/** `json`: one object that holds the rows and what there is to say of them. `jsonl`: rows alone. */
export type QueryFormat = 'json' | 'jsonl'

/**
 * What may gather before the first byte is sent. An answer that ends within it has its cursor in a
 * header; of JSON lines, whose cursor is nowhere else, a page of usual size must fit.
 */
const gatheredBytes = { json: 256 * 1024, jsonl: 8 * 1024 * 1024 }

export interface AnswerOptions {
  readonly format: QueryFormat
  /** Further warnings than those of the query. */
  readonly warnings: readonly QueryWarning[]
  readonly showsWarnings: boolean
}

/** Takes the first rows, so that what fails by then can still be answered with its own status. */
export async function queryReply(result: QueryResult, options: AnswerOptions): Promise<Reply> {
  const { format } = options
  const headers = { 'x-bt-query-plan': result.planSummary }
  const rows = result.rows[Symbol.asyncIterator]()
  const gathered: RowChunk[] = []
  let bytes = 0
  while (bytes < gatheredBytes[format]) {
    const next = await rows.next()
    if (next.done) return wholeReply(result, gathered, options, headers)
    gathered.push(next.value)
    bytes += next.value.bytes.length
  }
  return { headers, body: bodyOf(result, chain(gathered, rows), options) }
}

async function wholeReply(
  result: QueryResult,
  chunks: RowChunk[],
  options: AnswerOptions,
  headers: Record<string, string>,
): Promise<Reply> {
  const parts: Uint8Array[] = []
  for await (const part of bodyOf(result, chunks, options)) parts.push(part)
  const { cursor } = result.finish()
  return {
    headers: cursor === undefined ? headers : { ...headers, 'x-bt-cursor': cursor },
    body: Buffer.concat(parts),
  }
}

type RowChunks = Iterable<RowChunk> | AsyncIterable<RowChunk>

function bodyOf(result: QueryResult, rows: RowChunks, options: AnswerOptions) {
  return options.format === 'json' ? jsonBody(result, rows, options) : jsonLinesBody(rows)
}

async function* jsonBody(
  result: QueryResult,
  rows: RowChunks,
  options: AnswerOptions,
): AsyncGenerator<Uint8Array> {
  let separator = '{"data":['
  for await (const { rowCount, bytes } of rows) {
    if (rowCount === 0) continue
    yield Buffer.from(separator)
    yield bytes
    separator = ',\n'
  }
  const warnings = options.showsWarnings ? [...options.warnings, ...result.warnings] : []
  const tail = JSON.stringify(tailOf(result.finish(), warnings)).slice(1)
  yield Buffer.from(`${separator === ',\n' ? '' : separator}],${tail}`)
}

async function* jsonLinesBody(rows: RowChunks): AsyncGenerator<Uint8Array> {
  const newline = Buffer.from('\n')
  for await (const { rowCount, bytes } of rows) {
    if (rowCount === 0) continue
    yield bytes
    yield newline
  }
}

function tailOf(summary: QuerySummary, warnings: readonly QueryWarning[]) {
  const last = summary.lastTransactionId
  return {
    schema: summary.schema,
    ...(summary.cursor !== undefined && { cursor: summary.cursor }),
    // Rows are visible to queries as soon as they are acknowledged: nothing is ever behind.
    freshness_state: { last_processed_xact_id: last, last_considered_xact_id: last },
    realtime_state: {
      type: 'on',
      minimum_xact_id: last,
      read_bytes: summary.bytesRead,
      actual_xact_id: last,
    },
    ...(warnings.length > 0 && { warnings }),
    ...(summary.auditLog !== undefined && { audit_log: summary.auditLog }),
  }
}

/** What was taken out already, then the rest; whoever stops reading stops the query. */
async function* chain(first: RowChunk[], rest: AsyncIterator<RowChunk>): AsyncGenerator<RowChunk> {
  try {
    yield* first
    for (;;) {
      const next = await rest.next()
      if (next.done) return
      yield next.value
    }
  } finally {
    await rest.return?.()
  }
}
