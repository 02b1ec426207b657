/** Answers `POST /btql` at once when it asks for what takes no waiting (`scheduler/answers-now.ts`). */
import type { Gate } from '../access/gate.ts'
import type { ResultSchema } from '../binder/schema.ts'
import type { Fields } from '../catalog/schema/field.ts'
import type { AnswerNow, Engine } from '../engine.ts'
import { AssayError, type ErrorCode } from '../error.ts'
import { contentTypeOf } from '../format/output-format.ts'
import { ByteWriter } from '../json/byte-writer.ts'
import type { PlainQuery } from '../scheduler/answers-now.ts'
import type { WholeReply } from './reply.ts'
import type { RequestNow } from './route.ts'

/** Longer bodies are for the general way. */
const longestBody = 4096

/** Each schema as text: one that is kept with a plan is printed once. */
const schemaTexts = new WeakMap<ResultSchema, Buffer>()

/** Bodies of usual size are put together in the same memory again and again. */
const keptBytes = 1 << 20
const kept = new ByteWriter(keptBytes)

/** Whether an `Accept` header lets JSON be the answer without a closer look. */
export function isJsonAccepted(accept: string | undefined): boolean {
  return accept === undefined || accept === '*/*' || accept === 'application/json'
}

/** Undefined for anything but such a query. Its body must be sent before the next call. Throws the query's faults. */
export function recordReply(
  engine: Engine,
  body: Uint8Array,
  request: RequestNow,
  gate: Gate,
): WholeReply | undefined {
  const asked = queryIn(body, gate)
  if (!asked) return undefined
  request.queryText = asked.query
  try {
    const started = performance.now()
    const answer = engine.answerNow(asked)
    return answer && replyOf(answer, performance.now() - started)
  } catch (thrown) {
    if (thrown instanceof AssayError && isOfPlanning(thrown.code)) throw thrown
    // The general way may do what failed here in parts, or comes to the same fault.
    return undefined
  }
}

/** Whether the query has that fault whatever way it runs. */
function isOfPlanning(code: ErrorCode): boolean {
  return code.startsWith('PARSE_') || code.startsWith('BIND_') || code === 'ACCESS_DENIED'
}

function replyOf(answer: AnswerNow, ms: number) {
  const { planSummary, cursor } = answer
  const headers: Record<string, string> = {
    'x-bt-query-plan': planSummary,
    'x-bt-brainstore-duration-ms': String(Math.round(ms)),
  }
  if (cursor !== undefined) headers['x-bt-cursor'] = cursor
  return { contentType: contentTypeOf('json'), headers, body: bodyOf(answer) }
}

const plainOptions: ReadonlySet<string> = new Set(['query', 'fmt', 'use_columnstore'])

/** The query of a body that holds little else: the format that is the default, `use_columnstore`. */
function queryIn(body: Uint8Array, view: Gate): PlainQuery | undefined {
  if (body.length > longestBody) return undefined
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString()
  // What was no UTF-8 is refused by the general way.
  if (text.includes('\ufffd')) return undefined
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof given !== 'object' || given === null || !('query' in given)) return undefined
  for (const name in given) if (!plainOptions.has(name)) return undefined
  const { query, fmt = 'json', use_columnstore: useColumnstore = false } = given as Fields
  if (typeof query !== 'string' || fmt !== 'json') return undefined
  return typeof useColumnstore === 'boolean' ? { query, useColumnstore, view } : undefined
}

function bodyOf(answer: AnswerNow) {
  const { rowCount, bytes, bytesRead, schema, cursor, warnings } = answer
  const out = bytes.length > keptBytes / 2 ? new ByteWriter(bytes.length + 65_536) : kept
  out.truncate(0)
  out.copy(openData)
  if (rowCount > 0) out.copy(bytes)
  out.copy(textOf(schema))
  if (cursor !== undefined) out.text(`,"cursor":"${cursor}"`)
  const state = stateOf(answer.lastTransactionId)
  out.copy(state.beforeRead)
  out.text(String(bytesRead))
  out.copy(state.afterRead)
  if (warnings.length > 0) out.text(`,"warnings":${JSON.stringify(warnings)}`)
  out.byte(closeBrace)
  return out.view()
}

const openData = Buffer.from('{"data":[')
const closeBrace = 0x7d

/** What an answer says of the newest transaction, before and after the number of bytes that were read. */
interface StateText {
  readonly transaction: string | null
  readonly beforeRead: Buffer
  readonly afterRead: Buffer
}

let lastState: StateText | undefined

/** The same for all answers until something is written. */
function stateOf(transaction: string | null): StateText {
  if (lastState?.transaction === transaction) return lastState
  const last = JSON.stringify(transaction)
  const freshness = `{"last_processed_xact_id":${last},"last_considered_xact_id":${last}}`
  const realtime = `{"type":"on","minimum_xact_id":${last},"read_bytes":`
  lastState = {
    transaction,
    beforeRead: Buffer.from(`,"freshness_state":${freshness},"realtime_state":${realtime}`),
    afterRead: Buffer.from(`,"actual_xact_id":${last}}`),
  }
  return lastState
}

/** With what stands between the rows and it. */
function textOf(schema: ResultSchema): Buffer {
  let text = schemaTexts.get(schema)
  if (text === undefined) {
    text = Buffer.from(`],"schema":${JSON.stringify(schema)}`)
    schemaTexts.set(schema, text)
  }
  return text
}
