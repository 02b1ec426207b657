/** Spans of a request, whichever of the two encodings they came in. */
import { AssayError } from '../error.ts'
import { decodeUtf8, requireUtf8 } from '../json/utf8.ts'
import { parseJson } from '../type/parse-json.ts'
import type { JsonObject, Value } from '../type/value.ts'
import { decodeTraceRequest } from './schema.ts'

/** By name; in the order in which they were sent. */
export type Attributes = ReadonlyMap<string, Value>

export interface OtlpSpan {
  /** Hexadecimal, as are the other ids. */
  readonly traceId: string
  readonly spanId: string
  /** Undefined for the root of a trace. */
  readonly parentSpanId: string | undefined
  readonly name: string
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number
  /** In ms since 1970, with fractions; undefined when not set. */
  readonly startMs: number | undefined
  readonly endMs: number | undefined
  readonly attributes: Attributes
  readonly events: readonly OtlpEvent[]
  readonly links: readonly OtlpLink[]
  readonly isError: boolean
  readonly statusMessage: string
  readonly resource: Attributes
  readonly scope: { readonly name: string; readonly version: string }
}

export interface OtlpEvent {
  readonly name: string
  readonly timeMs: number | undefined
  readonly attributes: Attributes
}

export interface OtlpLink {
  readonly traceId: string
  readonly spanId: string
  readonly attributes: Attributes
}

export interface OtlpRequest {
  readonly spans: readonly OtlpSpan[]
  /** Spans without a valid id: they cannot be stored. */
  readonly invalidSpans: number
}

/** Attribute values nest no deeper; what lies below is cut off as null. */
const deepest = 64

export function readTraceRequest(body: Uint8Array, encoding: 'json' | 'protobuf'): OtlpRequest {
  const request = objectOf(encoding === 'json' ? readJson(body) : readProtobuf(body))
  const spans: OtlpSpan[] = []
  let invalidSpans = 0
  for (const resourceSpans of objectsOf(request.resourceSpans)) {
    const resource = attributesOf(objectOf(resourceSpans.resource).attributes)
    for (const scopeSpans of objectsOf(resourceSpans.scopeSpans)) {
      const { name, version } = objectOf(scopeSpans.scope)
      const scope = { name: textOf(name), version: textOf(version) }
      for (const given of objectsOf(scopeSpans.spans)) {
        const span = readSpan(given, resource, scope)
        if (span) spans.push(span)
        else invalidSpans++
      }
    }
  }
  return { spans, invalidSpans }
}

/** A value of the decoded request: JSON, and bytes in what was a protocol buffer. */
type Decoded = unknown
type DecodedObject = { readonly [name: string]: Decoded }

function readJson(body: Uint8Array): Value {
  requireUtf8(body)
  return parseJson(decodeUtf8(body, 0, body.length))
}

function readProtobuf(body: Uint8Array): unknown {
  try {
    return decodeTraceRequest(body)
  } catch (cause) {
    const reason = cause instanceof Error ? `: ${cause.message}` : ''
    throw new AssayError('REQUEST_INVALID', `the body is no ExportTraceServiceRequest${reason}`, {
      hint: 'send OTLP traces as protobuf, or as JSON with "content-type: application/json"',
      cause,
    })
  }
}

function readSpan(
  given: DecodedObject,
  resource: Attributes,
  scope: OtlpSpan['scope'],
): OtlpSpan | undefined {
  const traceId = hexOf(given.traceId, 16)
  const spanId = hexOf(given.spanId, 8)
  if (traceId === undefined || spanId === undefined) return undefined
  const status = objectOf(given.status)
  return {
    traceId,
    spanId,
    parentSpanId: hexOf(given.parentSpanId, 8),
    name: textOf(given.name),
    kind: enumOf(given.kind, 'SPAN_KIND_', kinds),
    startMs: msOf(given.startTimeUnixNano),
    endMs: msOf(given.endTimeUnixNano),
    attributes: attributesOf(given.attributes),
    events: objectsOf(given.events).map(({ name, timeUnixNano, attributes }) => ({
      name: textOf(name),
      timeMs: msOf(timeUnixNano),
      attributes: attributesOf(attributes),
    })),
    links: objectsOf(given.links).map((link) => ({
      traceId: hexOf(link.traceId, 16) ?? '',
      spanId: hexOf(link.spanId, 8) ?? '',
      attributes: attributesOf(link.attributes),
    })),
    isError: enumOf(status.code, 'STATUS_CODE_', statusCodes) === 2,
    statusMessage: textOf(status.message),
    resource,
    scope,
  }
}

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']
const statusCodes = ['UNSET', 'OK', 'ERROR']

/** The JSON form is to have numbers; some senders write names. */
function enumOf(value: Decoded, prefix: string, names: readonly string[]): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return 0
  return Math.max(0, names.indexOf(value.replace(prefix, '')))
}

function attributesOf(list: Decoded): Attributes {
  const attributes = new Map<string, Value>()
  for (const { key, value } of objectsOf(list)) {
    if (typeof key === 'string') attributes.set(key, decodedValue(value, 0))
  }
  return attributes
}

/** The value that an `AnyValue` holds; of an unknown kind, null. */
function decodedValue(any: Decoded, depth: number): Value {
  if (depth > deepest) return null
  const given = objectOf(any)
  if (typeof given.stringValue === 'string') return given.stringValue
  if (typeof given.boolValue === 'boolean') return given.boolValue
  if (given.intValue !== undefined && given.intValue !== null) return integerOf(given.intValue)
  if (given.doubleValue !== undefined && given.doubleValue !== null) {
    return Number(given.doubleValue)
  }
  if (given.arrayValue !== undefined && given.arrayValue !== null) {
    return objectsOf(objectOf(given.arrayValue).values).map((item) => decodedValue(item, depth + 1))
  }
  if (given.kvlistValue !== undefined && given.kvlistValue !== null) {
    const members = objectsOf(objectOf(given.kvlistValue).values)
    return Object.fromEntries(
      members.map(({ key, value }) => [textOf(key), decodedValue(value, depth + 1)]),
    ) as JsonObject
  }
  if (given.bytesValue instanceof Uint8Array)
    return Buffer.from(given.bytesValue).toString('base64')
  return typeof given.bytesValue === 'string' ? given.bytesValue : null
}

function integerOf(value: Decoded): Value {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (typeof value !== 'string' || !/^-?\d{1,20}$/.test(value)) return null
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : BigInt(value)
}

/** Nanoseconds since 1970, as a decimal text or a number; 0 means that there is no time. */
function msOf(value: Decoded): number | undefined {
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
  if (typeof text !== 'string' || !/^\d{1,20}$/.test(text)) return undefined
  const nanoseconds = BigInt(text)
  if (nanoseconds === 0n) return undefined
  return Number(nanoseconds / 1_000_000n) + Number(nanoseconds % 1_000_000n) / 1e6
}

/** Undefined for an id that is missing, of another length, or all zeros: the protocol's "none". */
function hexOf(id: Decoded, bytes: number): string | undefined {
  if (id instanceof Uint8Array) {
    const isId = id.length === bytes && id.some((byte) => byte !== 0)
    return isId ? Buffer.from(id).toString('hex') : undefined
  }
  if (typeof id !== 'string' || id === '') return undefined
  if (/^[0-9a-f]+$/i.test(id) && id.length === 2 * bytes) {
    return /[1-9a-f]/i.test(id) ? id.toLowerCase() : undefined
  }
  // Some encoders of JSON write bytes in base64, as they do in other messages.
  const decoded = Buffer.from(id, 'base64')
  return decoded.length === bytes ? decoded.toString('hex') : undefined
}

function objectOf(value: Decoded): DecodedObject {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as DecodedObject) : {}
}

function objectsOf(value: Decoded): DecodedObject[] {
  return Array.isArray(value) ? value.map(objectOf) : []
}

function textOf(value: Decoded): string {
  return typeof value === 'string' ? value : ''
}
