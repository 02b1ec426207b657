/** What log records of OpenTelemetry are as rows of `/logs3`, but for the object that they belong to. */
import { createHash } from 'node:crypto'
import { isObject, type JsonObject, type Value } from '../type/value.ts'
import { writeJson } from '../type/write-json.ts'
import { AttributeReader } from './attribute-reader.ts'
import { readBraintrust } from './convention/braintrust.ts'
import { isGenAiMessage, readGenAi, readGenAiEvents } from './convention/gen-ai.ts'
import { type Attributes, secondsOf, timestampOf } from './decode.ts'
import { exceptionText } from './exception.ts'
import type { OtlpLogRecord } from './log-record.ts'
import { RecordDraft } from './record-draft.ts'
import type { OuterSpan } from './span-to-row.ts'
import { readUsage } from './usage/read-usage.ts'

/** Severities from here on are errors. */
const leastError = 17

/** Names are what is read at a glance: the rest of a long message is in the output. */
const longestName = 100

/** What becomes one row. */
export type LogRecords = readonly [OtlpLogRecord, ...OtlpLogRecord[]]

/**
 * Events that tell the prompt, the answer or a score of a span are part of its row, all of them together;
 * every other record is a row.
 */
export function groupsOfRows(records: readonly OtlpLogRecord[]): LogRecords[] {
  const groups: [OtlpLogRecord, ...OtlpLogRecord[]][] = []
  const bySpan = new Map<string, OtlpLogRecord[]>()
  for (const record of records) {
    const span = isOfSpan(record) ? `${record.traceId} ${record.spanId}` : undefined
    const known = span === undefined ? undefined : bySpan.get(span)
    if (known) known.push(record)
    else {
      const group: [OtlpLogRecord] = [record]
      groups.push(group)
      if (span !== undefined) bySpan.set(span, group)
    }
  }
  return groups
}

export function rowOfLogRecords(records: LogRecords, outer: OuterSpan | undefined): JsonObject {
  const [first] = records
  return isOfSpan(first) ? rowOfSpanEvents(records, first) : rowOfRecord(first, outer)
}

type RecordOfSpan = OtlpLogRecord & { readonly spanId: string }

/** Whether a record has no row of its own, but is part of that of its span. */
export function isOfSpan(record: OtlpLogRecord): record is RecordOfSpan {
  return record.spanId !== undefined && record.eventName.startsWith('gen_ai.')
}

/** It merges, and leaves the place in the trace to the span: either may come first. */
function rowOfSpanEvents(events: LogRecords, { spanId }: RecordOfSpan): JsonObject {
  const draft = new RecordDraft()
  const contents = events.map((event) => ({ name: event.eventName, attributes: contentOf(event) }))
  readGenAiEvents(contents, draft)
  for (const { eventName, attributes, remarks, scope } of events) {
    const reader = new AttributeReader(attributes, (text) => remarks.push(text))
    reader.take('event.name')
    readGenAi(reader, draft)
    readUsage(reader, draft, scope.name)
    if (isGenAiMessage(eventName)) continue
    for (const [name, value] of reader.rest()) draft.setMetadata(name, value)
  }
  return { id: spanId, ...draft.fields(), _is_merge: true }
}

/** Attributes, and members of the body, where events had their content at first. */
function contentOf({ body, attributes }: OtlpLogRecord): Attributes {
  if (body === null || !isObject(body)) return attributes
  return new Map([...Object.entries(body), ...attributes])
}

/** A log record as a span of no duration, inside the one that wrote it. */
function rowOfRecord(record: OtlpLogRecord, outer: OuterSpan | undefined): JsonObject {
  const { traceId, time, body, severity, remarks } = record
  const reader = new AttributeReader(record.attributes, (text) => remarks.push(text))
  const draft = new RecordDraft()
  readBraintrust(reader, draft)
  reader.take('event.name')
  draft.setOutput(body)
  draft.setMetadata('severity', record.severityText || (severity === 0 ? null : severity))
  draft.error ??= exceptionText(record.attributes) ?? null
  if (severity >= leastError) draft.error ??= textOf(body) || 'error'
  for (const [name, value] of reader.rest()) draft.setMetadata(name, value)
  draft.addOrigin(record.scope, record.resource)
  if (time !== undefined) {
    draft.setMetric('start', secondsOf(time))
    draft.setMetric('end', secondsOf(time))
  }
  const id = idOf(record)
  const parent = record.spanId ?? outer?.spanId
  return {
    id,
    span_id: id,
    root_span_id: outer?.rootSpanId ?? traceId ?? id,
    ...(parent !== undefined && { span_parents: [parent] }),
    ...(time !== undefined && { created: timestampOf(time) }),
    span_attributes: { name: nameOf(record), ...draft.spanAttributes, type: draft.type ?? 'log' },
    ...draft.fields(),
    _is_merge: true,
  }
}

/** Records have no id: the same one for the same contents, so that one may be sent twice. */
function idOf({ traceId, spanId, time, eventName, body, attributes }: OtlpLogRecord): string {
  const contents = [time ?? null, eventName, body, Object.fromEntries(attributes)] as const
  return createHash('sha256')
    .update(`${traceId} ${spanId} ${writeJson(contents)}`)
    .digest('hex')
    .slice(0, 16)
}

function nameOf({ eventName, body, severityText }: OtlpLogRecord): string {
  const [line = ''] = textOf(body).trim().split('\n', 1)
  return eventName || line.slice(0, longestName) || severityText || 'log'
}

function textOf(body: Value): string {
  if (body === null) return ''
  return typeof body === 'string' ? body : writeJson(body)
}
