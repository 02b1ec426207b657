/** Spans of a request. */
import type { Remark } from './any-value.ts'
import { type Attributes, enumOf, Fields, reasonOf, type Scope } from './decode.ts'
import { OriginReader } from './origin.ts'
import { type Encoding, type SentItem, sentItems } from './request.ts'

export interface OtlpSpan {
  /** Hexadecimal, as are the other ids. */
  readonly traceId: string
  readonly spanId: string
  /** Undefined for the root of a trace. */
  readonly parentSpanId: string | undefined
  readonly name: string
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number
  /** In nanoseconds since 1970; undefined when not set. */
  readonly start: bigint | undefined
  readonly end: bigint | undefined
  readonly attributes: Attributes
  readonly events: readonly OtlpEvent[]
  readonly links: readonly OtlpLink[]
  /** What the program says of how the span ended. */
  readonly status: 'unset' | 'ok' | 'error'
  readonly statusMessage: string
  readonly resource: Attributes
  readonly scope: Scope
  /** What of it is not kept as it was sent. More may be found when it becomes a row. */
  readonly remarks: string[]
}

export interface OtlpEvent {
  readonly name: string
  /** In nanoseconds since 1970. */
  readonly time: bigint | undefined
  readonly attributes: Attributes
}

export interface OtlpLink {
  readonly traceId: string
  readonly spanId: string
  readonly attributes: Attributes
}

/** A span or log record that cannot be stored. */
export interface Unreadable {
  /** As far as that is known. */
  readonly called: string
  readonly problem: string
}

/** Throws for what is no request for traces; `remark` is told of what is not of one span alone. */
export function* readSpans(
  body: Uint8Array,
  encoding: Encoding,
  remark: Remark = () => undefined,
): Generator<OtlpSpan | Unreadable> {
  const origins = new OriginReader(remark)
  for (const sent of sentItems(body, encoding, 'traces', remark)) yield readSpan(sent, origins)
}

function readSpan(sent: SentItem, origins: OriginReader): OtlpSpan | Unreadable {
  let called = 'a span'
  try {
    const fields = new Fields(sent.item.read())
    called = nameOfSpan(fields.text('spanId'), fields.text('name'))
    const remarks: string[] = []
    const remark = (text: string) => remarks.push(text)
    const traceId = fields.id('traceId', 16, remark)
    const spanId = fields.id('spanId', 8, remark)
    called = nameOfSpan(spanId ?? '', fields.text('name'))
    if (traceId === undefined || spanId === undefined) {
      return { called, problem: `has no valid ${traceId === undefined ? 'trace' : 'span'} id` }
    }
    const status = new Fields(fields.get('status'))
    return {
      traceId,
      spanId,
      parentSpanId: fields.id('parentSpanId', 8, remark),
      name: fields.text('name'),
      kind: enumOf(fields.get('kind'), 'SPAN_KIND_', kinds),
      start: fields.time('startTimeUnixNano', remark),
      end: fields.time('endTimeUnixNano', remark),
      attributes: fields.attributes(remark),
      events: fields.list('events').map((event) => readEvent(new Fields(event), remark)),
      links: fields.list('links').map((link) => readLink(new Fields(link), remark)),
      status: statuses[enumOf(status.get('code'), 'STATUS_CODE_', statusCodes)] ?? 'unset',
      statusMessage: status.text('message'),
      ...origins.of(sent),
      remarks,
    }
  } catch (thrown) {
    return { called, problem: `cannot be read: ${reasonOf(thrown)}` }
  }
}

/** How a span is called where something is told of it. */
export function nameOfSpan(spanId: string, name: string): string {
  if (spanId === '' && name === '') return 'a span'
  const id = spanId === '' ? '' : ` ${spanId.slice(0, 16)}`
  return name === '' ? `span${id}` : `span${id} "${name.slice(0, 100)}"`
}

function readEvent(fields: Fields, remark: Remark): OtlpEvent {
  const name = fields.text('name')
  const ofEvent: Remark = (text) => remark(`event "${name.slice(0, 100)}": ${text}`)
  return {
    name,
    time: fields.time('timeUnixNano', ofEvent),
    attributes: fields.attributes(ofEvent),
  }
}

function readLink(fields: Fields, remark: Remark): OtlpLink {
  const ofLink: Remark = (text) => remark(`link: ${text}`)
  return {
    traceId: fields.id('traceId', 16, ofLink) ?? '',
    spanId: fields.id('spanId', 8, ofLink) ?? '',
    attributes: fields.attributes(ofLink),
  }
}

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']
const statusCodes = ['UNSET', 'OK', 'ERROR']
const statuses = ['unset', 'ok', 'error'] as const
