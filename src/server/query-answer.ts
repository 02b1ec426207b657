/** Turns the result of a query into the body of an answer, without waiting for all of its rows. */
import type { ResultSchema } from '../binder/schema.ts'
import type { QueryResult, QuerySummary } from '../engine.ts'
import { toAssayError } from '../error.ts'
import { contentTypeOf, formatNames, type OutputFormat } from '../format/output-format.ts'
import { ByteWriter } from '../json/byte-writer.ts'
import type { QueryWarning } from '../planner/lint.ts'
import type { RowChunk } from '../scheduler/answer/answer-frame.ts'
import type { Highlighter } from '../search/looked-for.ts'
import type { JsonObject } from '../type/value.ts'
import type { Reply } from './reply.ts'

/**
 * What may gather before the first byte is sent, and for how long after the first rows came. An
 * answer that ends within it has its length and its cursor in headers, and may still fail with a
 * status of its own.
 */
const gathered = { bytes: 256 * 1024, ms: 25 }

/** Of a page in a format that has the cursor nowhere else: one of usual size must fit. */
const gatheredPageBytes = 8 * 1024 * 1024

export interface AnswerOptions {
  readonly format: OutputFormat
  /** Further warnings than those of the query. */
  readonly warnings: readonly QueryWarning[]
  readonly showsWarnings: boolean
  /** What a JSON answer says besides. */
  readonly further?: object
  /** Finds what a JSON answer is to mark in its rows, and tells it as `highlights`. */
  readonly highlighter?: Highlighter | undefined
}

/** Of an answer that is there within the turn, the reply is, too. */
export function queryReply(result: QueryResult, options: AnswerOptions): Reply | Promise<Reply> {
  const { inline } = result
  return inline && options.format === 'json'
    ? inlineReply(result, inline, options)
    : gatheredReply(result, options)
}

/** Replies of usual size are put together in the same memory again and again. */
const writtenBytes = 1 << 17
const written = new ByteWriter(writtenBytes)

function inlineReply(result: QueryResult, rows: RowChunk, options: AnswerOptions): Reply {
  const summary = result.finish()
  const isUsual = rows.bytes.length < writtenBytes / 2
  const out = isUsual ? written : new ByteWriter(rows.bytes.length + writtenBytes / 2)
  out.truncate(0)
  out.copy(openRows)
  if (rows.rowCount > 0) {
    out.copy(rows.bytes)
    mark(rows, options.highlighter)
  }
  writeTail(out, summary, tailOptions(result, options))
  return {
    ...headOf(options),
    headers: headersOf(result, options, summary),
    body: isUsual ? Buffer.from(out.view()) : out.view(),
  }
}

/** Takes the first rows, so that what fails by then can still be answered with its own status. */
async function gatheredReply(result: QueryResult, options: AnswerOptions): Promise<Reply> {
  const head = headOf(options)
  const first = await gather(result, options.format)
  if (first.rest) {
    const { rows } = first.rest
    const body = bodyOf(result, chain(first.chunks, first.rest), options)
    return { ...head, headers: headersOf(result, options), body, discard: () => endRows(rows) }
  }
  const parts: Uint8Array[] = []
  for await (const part of bodyOf(result, first.chunks, options)) parts.push(part)
  const headers = headersOf(result, options, result.finish())
  return { ...head, headers, body: Buffer.concat(parts) }
}

function headOf({ format }: AnswerOptions) {
  return {
    contentType: contentTypeOf(format),
    isCompressible: formatNames[format].isCompressible,
  }
}

/** @param summary where it is known before the answer begins */
function headersOf(
  { planSummary }: QueryResult,
  { format }: AnswerOptions,
  summary?: QuerySummary,
): Record<string, string> {
  const headers: Record<string, string> = {
    'x-bt-query-plan': planSummary,
    ...fileHeader(format),
  }
  if (summary?.cursor !== undefined) headers['x-bt-cursor'] = summary.cursor
  return headers
}

/** A name for whoever saves the answer as it comes. */
function fileHeader(format: OutputFormat): Record<string, string> {
  if (format === 'json' || format === 'jsonl') return {}
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const name = `assay-${time}.${formatNames[format].ending}`
  return { 'content-disposition': `attachment; filename="${name}"` }
}

type NextChunk = Promise<IteratorResult<RowChunk>>

interface Gathered {
  readonly chunks: RowChunk[]
  /** What is still to come, the next of it perhaps asked for already; undefined when that is all. */
  readonly rest: { readonly rows: AsyncIterator<RowChunk>; readonly next: NextChunk } | undefined
}

async function gather(result: QueryResult, format: OutputFormat): Promise<Gathered> {
  const isPage = result.isPage && format !== 'json'
  const enoughBytes = isPage ? gatheredPageBytes : gathered.bytes
  const rows = result.rows[Symbol.asyncIterator]()
  const chunks: RowChunk[] = []
  let bytes = 0
  let late: Promise<'late'> | undefined
  let timer: NodeJS.Timeout | undefined
  try {
    for (;;) {
      const next = nextOf(rows)
      const first = late ? await Promise.race([next, late]) : await next
      if (first === 'late') return { chunks, rest: { rows, next } }
      if (first.done) return { chunks, rest: undefined }
      chunks.push(first.value)
      bytes += first.value.bytes.length
      if (bytes >= enoughBytes) return { chunks, rest: { rows, next: nextOf(rows) } }
      if (isPage || late || first.value.rowCount === 0) continue
      late = new Promise((resolve) => {
        timer = setTimeout(resolve, gathered.ms, 'late')
      })
    }
  } finally {
    clearTimeout(timer)
  }
}

/** The next of the rows, asked for ahead: that may fail before anybody waits for it. */
function nextOf(rows: AsyncIterator<RowChunk>): NextChunk {
  const next = rows.next()
  next.catch(() => undefined)
  return next
}

/** Ends the query whose rows nobody takes. */
export function endRows(rows: AsyncIterator<RowChunk>): void {
  // What it fails with while it ends is of no interest to anybody.
  rows.return?.().catch(() => undefined)
}

/** What was taken out already, then the rest; whoever stops reading stops the query. */
async function* chain(
  first: readonly RowChunk[],
  { rows, next }: NonNullable<Gathered['rest']>,
): AsyncGenerator<RowChunk> {
  try {
    yield* first
    for (let result = await next; !result.done; result = await rows.next()) yield result.value
  } finally {
    await rows.return?.()
  }
}

type RowChunks = Iterable<RowChunk> | AsyncIterable<RowChunk>

function bodyOf(result: QueryResult, rows: RowChunks, options: AnswerOptions) {
  switch (options.format) {
    case 'json':
      return jsonBody(result, rows, options)
    case 'jsonl':
      return jsonLinesBody(rows)
    default:
      return bytesOf(rows)
  }
}

async function* jsonBody(
  result: QueryResult,
  rows: RowChunks,
  options: AnswerOptions,
): AsyncGenerator<Uint8Array> {
  let separator: Uint8Array = openRows
  try {
    for await (const chunk of rows) {
      if (chunk.rowCount === 0) continue
      yield separator
      yield chunk.bytes
      mark(chunk, options.highlighter)
      separator = betweenRows
    }
  } catch (thrown) {
    // Whoever reads no further than this learns of it, too; the connection ends without the end of
    // the body.
    if (separator === betweenRows)
      yield Buffer.from(`],"error":${JSON.stringify(failureOf(thrown))}}`)
    throw thrown
  }
  if (separator === openRows) yield openRows
  const tail = new ByteWriter()
  writeTail(tail, result.finish(), tailOptions(result, options))
  yield tail.view()
}

const openRows = Buffer.from('{"data":[')
const betweenRows = Buffer.from(',\n')
const closeBrace = 0x7d

interface TailOptions {
  readonly warnings: readonly QueryWarning[]
  readonly further: object
}

function tailOptions(result: QueryResult, options: AnswerOptions): TailOptions {
  const { highlighter } = options
  return {
    warnings: options.showsWarnings ? [...options.warnings, ...result.warnings] : [],
    further: { ...options.further, ...(highlighter && { highlights: highlighter.found }) },
  }
}

/** What stands behind the rows of JSON. */
function writeTail(
  out: ByteWriter,
  summary: QuerySummary,
  { warnings, further }: TailOptions,
): void {
  out.text('],')
  if (Object.keys(further).length > 0) out.text(`${JSON.stringify(further).slice(1, -1)},`)
  out.copy(schemaText(summary.schema))
  if (summary.cursor !== undefined) out.text(`,"cursor":"${summary.cursor}"`)
  out.text(`,${JSON.stringify(stateOf(summary)).slice(1, -1)}`)
  if (warnings.length > 0) out.text(`,"warnings":${JSON.stringify(warnings)}`)
  if (summary.auditLog) out.text(`,"audit_log":${JSON.stringify(summary.auditLog)}`)
  out.byte(closeBrace)
}

/** Each schema as text: one that is kept with a plan is printed once. */
const schemaTexts = new WeakMap<ResultSchema, Buffer>()

function schemaText(schema: ResultSchema): Buffer {
  let text = schemaTexts.get(schema)
  if (!text) {
    text = Buffer.from(`"schema":${JSON.stringify(schema)}`)
    schemaTexts.set(schema, text)
  }
  return text
}

function mark({ rowCount, bytes }: RowChunk, highlighter: Highlighter | undefined): void {
  if (highlighter) for (const row of markedRows(rowCount, bytes)) highlighter.addRow(row)
}

/** Chunks are longer only for a row that is: it comes unmarked, as looking through it would hold up all others. */
const longestMarked = 6 * 2 ** 20

function markedRows(rowCount: number, bytes: Uint8Array): JsonObject[] {
  if (bytes.length > longestMarked) return Array.from({ length: rowCount }, () => ({}))
  return JSON.parse(`[${Buffer.from(bytes).toString()}]`) as JsonObject[]
}

function failureOf(thrown: unknown) {
  const { code, family, message, hint } = toAssayError(thrown)
  return family === 'internal'
    ? { code, message: 'the query failed after its first rows were sent' }
    : { code, message, ...(hint !== undefined && { hint }) }
}

async function* jsonLinesBody(rows: RowChunks): AsyncGenerator<Uint8Array> {
  const newline = Buffer.from('\n')
  for await (const { rowCount, bytes } of rows) {
    if (rowCount === 0) continue
    yield bytes
    yield newline
  }
}

async function* bytesOf(rows: RowChunks): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of rows) yield bytes
}

/** What an answer says after its rows. */
export function tailOf(summary: QuerySummary, warnings: readonly QueryWarning[]) {
  return {
    schema: summary.schema,
    ...(summary.cursor !== undefined && { cursor: summary.cursor }),
    ...stateOf(summary),
    ...(warnings.length > 0 && { warnings }),
    ...(summary.auditLog !== undefined && { audit_log: summary.auditLog }),
  }
}

/** Rows are visible to queries as soon as they are acknowledged: nothing is ever behind. */
function stateOf({ lastTransactionId: last, bytesRead }: QuerySummary) {
  return {
    freshness_state: { last_processed_xact_id: last, last_considered_xact_id: last },
    realtime_state: {
      type: 'on',
      minimum_xact_id: last,
      read_bytes: bytesRead,
      actual_xact_id: last,
    },
  }
}
