/** `POST /otel/v1/traces` and `/v1/traces`: OTLP over HTTP, as protobuf or JSON. */
import type { Gate } from '../../../access/gate.ts'
import { AssayError } from '../../../error.ts'
import { encodeTraceResponse } from '../../../otlp/schema.ts'
import { type OtlpSpan, readTraceRequest } from '../../../otlp/span.ts'
import { rowOfSpan } from '../../../otlp/span-to-row.ts'
import type { JsonObject } from '../../../type/value.ts'
import { writeJson } from '../../../type/write-json.ts'
import type { RecordWriter } from '../../record-writer.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'
import { resolveParent, type SpanParent } from './parent.ts'

type Encoding = 'json' | 'protobuf'

export function otlpRoutes(writer: RecordWriter): Route[] {
  return ['/otel/v1/traces', '/v1/traces'].map((path) => ({
    method: 'POST',
    path,
    access: 'key',
    bodySize: 'records',
    headers: ['content-type', 'x-bt-parent'],
    handle: (request, gate) => receive(writer, request, gate),
  }))
}

async function receive(writer: RecordWriter, request: RouteRequest, gate: Gate): Promise<Reply> {
  const encoding = encodingOf(request.headers.get('content-type') ?? '')
  const { spans, invalidSpans } = readTraceRequest(await request.body, encoding)
  const parents = new Parents(gate, request.headers.get('x-bt-parent'))
  const rows: JsonObject[] = []
  const problems = new Map<string, AssayError>()
  for (const span of spans) {
    const parent = await parents.of(span)
    if (parent instanceof AssayError) problems.set(parent.message, parent)
    else rows.push({ ...rowOfSpan(span, parent.span), ...parent.object })
  }
  const [problem] = problems.values()
  if (problem && rows.length === 0) throw problem
  if (rows.length > 0) {
    await writer.insert({ body: Buffer.from(writeJson({ rows })), form: 'logs3', view: gate })
  }
  const messages = [...problems.keys()].slice(0, 5)
  if (invalidSpans > 0) messages.push('a span has no valid trace id or span id')
  return replyOf(encoding, spans.length - rows.length + invalidSpans, messages.join('; '))
}

/** What each span belongs to: it says so itself, or its process does, or the request. */
class Parents {
  readonly #gate: Gate
  readonly #header: string | undefined
  readonly #known = new Map<string, SpanParent | AssayError>()

  constructor(gate: Gate, header: string | undefined) {
    this.#gate = gate
    this.#header = header
  }

  async of({ attributes, resource }: OtlpSpan): Promise<SpanParent | AssayError> {
    const given =
      textOf(attributes.get('braintrust.parent')) ??
      textOf(resource.get('braintrust.parent')) ??
      this.#header
    if (given === undefined) {
      return new AssayError('REQUEST_INVALID', 'a span names no project or experiment', {
        hint: 'send the header x-bt-parent, or the attribute braintrust.parent',
      })
    }
    const known = this.#known.get(given)
    if (known) return known
    const found = await resolveParent(given, this.#gate).catch((thrown: unknown) => {
      if (thrown instanceof AssayError && thrown.family === 'user') return thrown
      throw thrown
    })
    this.#known.set(given, found)
    return found
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function encodingOf(contentType: string): Encoding {
  const mediaType = contentType.split(';')[0]!.trim().toLowerCase()
  if (mediaType === 'application/json') return 'json'
  if (mediaType === 'application/x-protobuf' || mediaType === 'application/protobuf') {
    return 'protobuf'
  }
  const shown = mediaType === '' ? 'no content type' : `"${mediaType.slice(0, 100)}"`
  throw new AssayError('REQUEST_INVALID', `traces come as JSON or protobuf, not with ${shown}`, {
    hint: 'send "content-type: application/x-protobuf" or "application/json"',
  })
}

function replyOf(encoding: Encoding, rejected: number, message: string): Reply {
  if (encoding === 'protobuf') {
    return {
      contentType: 'application/x-protobuf',
      body: encodeTraceResponse(rejected, message),
    }
  }
  if (rejected === 0) return jsonReply({})
  return jsonReply({ partialSuccess: { rejectedSpans: String(rejected), errorMessage: message } })
}
