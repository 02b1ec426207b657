/** Log records of a request. */
import type { Value } from '../type/value.ts'
import { anyValue, type Remark } from './any-value.ts'
import { type Attributes, enumOf, Fields, reasonOf, type Scope, textOf } from './decode.ts'
import { OriginReader } from './origin.ts'
import { type Encoding, type SentItem, sentItems } from './request.ts'
import type { Unreadable } from './span.ts'

export interface OtlpLogRecord {
  /** Hexadecimal; undefined when it was written outside of any trace. */
  readonly traceId: string | undefined
  /** Undefined when it was written outside of any span. */
  readonly spanId: string | undefined
  /** Empty when it is no event. */
  readonly eventName: string
  /** In nanoseconds since 1970; undefined when not set. */
  readonly time: bigint | undefined
  /** 1 to 24; 0 when not set. From 17 on it is an error. */
  readonly severity: number
  readonly severityText: string
  readonly body: Value
  readonly attributes: Attributes
  readonly resource: Attributes
  readonly scope: Scope
  /** What of it is not kept as it was sent. */
  readonly remarks: string[]
}

/** Throws for what is no request for logs; `remark` is told of what is not of one record alone. */
export function* readLogRecords(
  body: Uint8Array,
  encoding: Encoding,
  remark: Remark = () => undefined,
): Generator<OtlpLogRecord | Unreadable> {
  const origins = new OriginReader(remark)
  for (const sent of sentItems(body, encoding, 'logs', remark)) yield readLogRecord(sent, origins)
}

/** How a log record is called where something is told of it. */
export function nameOfLogRecord(eventName: string, spanId: string | undefined): string {
  const name = eventName === '' ? '' : ` "${eventName.slice(0, 100)}"`
  return `log record${name}${spanId === undefined ? '' : ` of span ${spanId}`}`
}

function readLogRecord(sent: SentItem, origins: OriginReader): OtlpLogRecord | Unreadable {
  let called = 'a log record'
  try {
    const fields = new Fields(sent.item.read())
    called = nameOfLogRecord(fields.text('eventName'), undefined)
    const remarks: string[] = []
    const remark: Remark = (text) => remarks.push(text)
    const attributes = fields.attributes(remark)
    return {
      traceId: fields.id('traceId', 16, remark),
      spanId: fields.id('spanId', 8, remark),
      // Before records had a name of their own, events were told by this attribute.
      eventName: fields.text('eventName') || textOf(attributes.get('event.name')),
      time: fields.time('timeUnixNano', remark) ?? fields.time('observedTimeUnixNano', remark),
      severity: enumOf(fields.get('severityNumber'), 'SEVERITY_NUMBER_', severities),
      severityText: fields.text('severityText'),
      body: anyValue(fields.get('body'), (text) => remark(`its body ${text}`)),
      attributes,
      ...origins.of(sent),
      remarks,
    }
  } catch (thrown) {
    return { called, problem: `cannot be read: ${reasonOf(thrown)}` }
  }
}

const severities = [
  'UNSPECIFIED',
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((name) => [
    name,
    `${name}2`,
    `${name}3`,
    `${name}4`,
  ]),
]
