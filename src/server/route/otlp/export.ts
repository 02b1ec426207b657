/** OTLP over HTTP, as protobuf or JSON: `POST /otel/v1/traces` and `/otel/v1/logs`, also without `/otel`. */
import type { Gate } from '../../../access/gate.ts'
import { AssayError } from '../../../error.ts'
import type { Encoding } from '../../../otlp/request.ts'
import { encodeFailure, encodeResponse, type Signal } from '../../../otlp/schema.ts'
import { grpcCode, retrySeconds } from '../../grpc/status.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { FailureBody, Route, RouteRequest } from '../../route.ts'
import type { ExportReceiver, ExportResult } from './receive.ts'

export function otlpRoutes(receiver: ExportReceiver): Route[] {
  return (['traces', 'logs'] as const).flatMap((signal) =>
    [`/otel/v1/${signal}`, `/v1/${signal}`].map(
      (path): Route => ({
        method: 'POST',
        path,
        access: 'key',
        bodySize: 'records',
        headers: ['content-type', 'x-bt-parent'],
        failure: (error, message, headers) => failureOf(error, message, headers),
        handle: (request, gate) => receive(receiver, signal, request, gate),
      }),
    ),
  )
}

async function receive(
  receiver: ExportReceiver,
  signal: Signal,
  request: RouteRequest,
  gate: Gate,
): Promise<Reply> {
  const encoding = encodingOf(signal, request.headers)
  const parent = request.headers.get('x-bt-parent')
  const body = await request.body
  const result = await receiver.receive({ signal, encoding, body, parent }, gate)
  return replyOf(encoding, signal, result)
}

/** Who sends protocol buffers reads nothing else. */
function failureOf(
  error: AssayError,
  message: string,
  headers: ReadonlyMap<string, string>,
): FailureBody | undefined {
  if (!protobuf.includes(mediaTypeOf(headers))) return undefined
  return {
    contentType: 'application/x-protobuf',
    body: encodeFailure(grpcCode(error.code), message, retrySeconds(error)),
  }
}

function mediaTypeOf(headers: ReadonlyMap<string, string>): string {
  return (headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
}

const protobuf: readonly string[] = ['application/x-protobuf', 'application/protobuf']

function encodingOf(signal: Signal, headers: ReadonlyMap<string, string>): Encoding {
  const mediaType = mediaTypeOf(headers)
  if (mediaType === 'application/json') return 'json'
  if (protobuf.includes(mediaType)) return 'protobuf'
  const shown = mediaType === '' ? 'no content type' : `"${mediaType.slice(0, 100)}"`
  throw new AssayError('REQUEST_INVALID', `${signal} come as JSON or protobuf, not with ${shown}`, {
    hint: 'send "content-type: application/x-protobuf" or "application/json"',
  })
}

/** A message without anything rejected tells of what is stored and not as it was sent. */
function replyOf(encoding: Encoding, signal: Signal, { rejected, message }: ExportResult): Reply {
  if (encoding === 'protobuf') {
    return {
      contentType: 'application/x-protobuf',
      body: encodeResponse(rejected, message),
    }
  }
  if (rejected === 0 && message === '') return jsonReply({})
  const count = signal === 'traces' ? 'rejectedSpans' : 'rejectedLogRecords'
  return jsonReply({ partialSuccess: { [count]: String(rejected), errorMessage: message } })
}
