/** Log records of a request. */
import type { Value } from '../type/value.ts'
import {
  type Attributes,
  attributesOf,
  decodedValue,
  type Encoding,
  enumOf,
  hexOf,
  type Item,
  msOf,
  readItems,
  type Scope,
  textOf,
} from './decode.ts'

export interface OtlpLogRecord {
  /** Hexadecimal; undefined when it was written outside of any trace. */
  readonly traceId: string | undefined
  /** Undefined when it was written outside of any span. */
  readonly spanId: string | undefined
  /** Empty when it is no event. */
  readonly eventName: string
  /** In ms since 1970, with fractions; undefined when not set. */
  readonly timeMs: number | undefined
  /** 1 to 24; 0 when not set. From 17 on it is an error. */
  readonly severity: number
  readonly severityText: string
  readonly body: Value
  readonly attributes: Attributes
  readonly resource: Attributes
  readonly scope: Scope
}

export function readLogRecords(body: Uint8Array, encoding: Encoding): OtlpLogRecord[] {
  return Array.from(readItems(body, encoding, 'logs'), readLogRecord)
}

function readLogRecord({ given, resource, scope }: Item): OtlpLogRecord {
  const attributes = attributesOf(given.attributes)
  // Before records had a name of their own, events were told by this attribute.
  const formerName = attributes.get('event.name')
  return {
    traceId: hexOf(given.traceId, 16),
    spanId: hexOf(given.spanId, 8),
    eventName: textOf(given.eventName) || textOf(formerName),
    timeMs: msOf(given.timeUnixNano) ?? msOf(given.observedTimeUnixNano),
    severity: enumOf(given.severityNumber, 'SEVERITY_NUMBER_', severities),
    severityText: textOf(given.severityText),
    body: decodedValue(given.body, 0),
    attributes,
    resource,
    scope,
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
