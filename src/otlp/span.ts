/** Spans of a request. */
import {
  type Attributes,
  attributesOf,
  type Encoding,
  enumOf,
  hexOf,
  type Item,
  msOf,
  objectOf,
  objectsOf,
  readItems,
  type Scope,
  textOf,
} from './decode.ts'

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
  readonly scope: Scope
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

/** Undefined stands for a span without a valid id: it cannot be stored. */
export function readSpans(body: Uint8Array, encoding: Encoding): (OtlpSpan | undefined)[] {
  return Array.from(readItems(body, encoding, 'traces'), readSpan)
}

function readSpan({ given, resource, scope }: Item): OtlpSpan | undefined {
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
