/** Spans of OpenTelemetry by their attributes alone, and the rows that they become. */
import { type OtlpSpan, readSpans } from '../../src/otlp/span.ts'
import { rowOfSpan } from '../../src/otlp/span-to-row.ts'
import type { JsonObject } from '../../src/type/value.ts'

export type Plain = string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain }

export const traceId = '0af7651916cd43dd8448eb211c80319c'
export const spanId = 'b7ad6b7169203331'

/** An attribute value as OTLP's JSON form has it. */
function anyValue(value: Plain): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') {
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
  return { kvlistValue: { values: keyValues(value as Record<string, Plain>) } }
}

export function keyValues(attributes: Record<string, Plain>): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }))
}

export function rowOf(
  attributes: Record<string, Plain>,
  more: object = {},
  scope = '',
): JsonObject {
  const sent = { traceId, spanId, name: 's', attributes: keyValues(attributes), ...more }
  const body = { resourceSpans: [{ scopeSpans: [{ scope: { name: scope }, spans: [sent] }] }] }
  const [span] = readSpans(Buffer.from(JSON.stringify(body)), 'json')
  return rowOfSpan(span as OtlpSpan, undefined)
}
