/** OTLP over HTTP, as protobuf or JSON: `POST /otel/v1/traces` and `/otel/v1/logs`, also without `/otel`. */
import type { Gate } from '../../../access/gate.ts'
import { AssayError } from '../../../error.ts'
import type { Encoding } from '../../../otlp/decode.ts'
import { readLogRecords } from '../../../otlp/log-record.ts'
import { groupsOfRows, rowOfLogRecords } from '../../../otlp/log-to-row.ts'
import { encodeResponse, type Signal } from '../../../otlp/schema.ts'
import { readSpans } from '../../../otlp/span.ts'
import { rowOfSpan } from '../../../otlp/span-to-row.ts'
import type { JsonObject } from '../../../type/value.ts'
import { writeJson } from '../../../type/write-json.ts'
import type { RecordWriter } from '../../record-writer.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'
import { Parents, type SpanParent } from './parent.ts'

export function otlpRoutes(writer: RecordWriter): Route[] {
  return (['traces', 'logs'] as const).flatMap((signal) =>
    [`/otel/v1/${signal}`, `/v1/${signal}`].map(
      (path): Route => ({
        method: 'POST',
        path,
        access: 'key',
        bodySize: 'records',
        headers: ['content-type', 'x-bt-parent'],
        handle: (request, gate) => receive(writer, signal, request, gate),
      }),
    ),
  )
}

async function receive(
  writer: RecordWriter,
  signal: Signal,
  request: RouteRequest,
  gate: Gate,
): Promise<Reply> {
  const encoding = encodingOf(signal, request.headers.get('content-type') ?? '')
  const parents = new Parents(gate, request.headers.get('x-bt-parent'))
  const body = await request.body
  const rowsOf = signal === 'traces' ? rowsOfSpans : rowsOfLogRecords
  const { rows, rejected, problems } = await rowsOf(body, encoding, parents)
  const [problem] = [...problems.values()].filter((found) => found !== undefined)
  if (problem && rows.length === 0) throw problem
  if (rows.length > 0) {
    await writer.insert({ body: Buffer.from(writeJson({ rows })), form: 'logs3', view: gate })
  }
  const message = [...problems.keys()].slice(0, reportedProblems).join('; ')
  return replyOf(encoding, signal, rejected, message)
}

const reportedProblems = 5

/** The rows of a request, and what of it cannot be stored. */
class Sorted {
  readonly rows: JsonObject[] = []
  rejected = 0
  /** By what is told of them; undefined for what is no fault of the whole request. */
  readonly problems = new Map<string, AssayError | undefined>()

  add(row: JsonObject, { object }: SpanParent): void {
    this.rows.push({ ...row, ...object })
  }

  reject(problem: AssayError | string): void {
    this.rejected++
    if (typeof problem === 'string') this.problems.set(problem, undefined)
    else this.problems.set(problem.message, problem)
  }
}

async function rowsOfSpans(body: Uint8Array, encoding: Encoding, parents: Parents) {
  const sorted = new Sorted()
  for (const span of readSpans(body, encoding)) {
    if (!span) {
      sorted.reject('a span has no valid trace id or span id')
      continue
    }
    const parent = await parents.of(span)
    if (parent instanceof AssayError) sorted.reject(parent)
    else sorted.add(rowOfSpan(span, parent.span), parent)
  }
  return sorted
}

async function rowsOfLogRecords(body: Uint8Array, encoding: Encoding, parents: Parents) {
  const sorted = new Sorted()
  for (const records of groupsOfRows(readLogRecords(body, encoding))) {
    const parent = await parents.of(records[0])
    if (!(parent instanceof AssayError)) sorted.add(rowOfLogRecords(records, parent.span), parent)
    else for (const _ of records) sorted.reject(parent)
  }
  return sorted
}

function encodingOf(signal: Signal, contentType: string): Encoding {
  const mediaType = contentType.split(';')[0]!.trim().toLowerCase()
  if (mediaType === 'application/json') return 'json'
  if (mediaType === 'application/x-protobuf' || mediaType === 'application/protobuf') {
    return 'protobuf'
  }
  const shown = mediaType === '' ? 'no content type' : `"${mediaType.slice(0, 100)}"`
  throw new AssayError('REQUEST_INVALID', `${signal} come as JSON or protobuf, not with ${shown}`, {
    hint: 'send "content-type: application/x-protobuf" or "application/json"',
  })
}

function replyOf(encoding: Encoding, signal: Signal, rejected: number, message: string): Reply {
  if (encoding === 'protobuf') {
    return {
      contentType: 'application/x-protobuf',
      body: encodeResponse(rejected, message),
    }
  }
  if (rejected === 0) return jsonReply({})
  const count = signal === 'traces' ? 'rejectedSpans' : 'rejectedLogRecords'
  return jsonReply({ partialSuccess: { [count]: String(rejected), errorMessage: message } })
}
