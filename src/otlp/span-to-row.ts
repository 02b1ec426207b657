/** What a span of OpenTelemetry is as a row of `/logs3`, but for the object that it belongs to. */
import { formatTimestamp } from '../type/time.ts'
import type { JsonObject, Value } from '../type/value.ts'
import { AttributeReader } from './attribute-reader.ts'
import { readBraintrust } from './convention/braintrust.ts'
import { readGenAi, readGenAiEvents } from './convention/gen-ai.ts'
import { readOpenInference } from './convention/open-inference.ts'
import { readOpenLlmetry } from './convention/open-llmetry.ts'
import { readVercelAi } from './convention/vercel-ai.ts'
import type { Attributes } from './decode.ts'
import { exceptionText } from './exception.ts'
import { RecordDraft } from './record-draft.ts'
import type { OtlpEvent, OtlpSpan } from './span.ts'

/** A span outside that the spans without a parent of their own are part of. */
export interface OuterSpan {
  readonly spanId: string
  readonly rootSpanId: string
}

const kinds = [undefined, 'internal', 'server', 'client', 'producer', 'consumer']

/**
 * The row merges: feedback that has overtaken its span stays, and a span that is sent again changes
 * nothing.
 */
export function rowOfSpan(span: OtlpSpan, outer: OuterSpan | undefined): JsonObject {
  const reader = new AttributeReader(span.attributes)
  const draft = new RecordDraft()
  readBraintrust(reader, draft)
  const events = readGenAiEvents(span.events, draft)
  readGenAi(reader, draft)
  readOpenInference(reader, draft)
  readVercelAi(reader, draft)
  readOpenLlmetry(reader, draft)
  addContext(span, reader, draft)
  addError(span, events, draft)
  const others = events.filter(({ name }) => name !== 'exception')
  if (others.length > 0) draft.context.events = others.map(eventOf)
  for (const [name, value] of reader.rest()) draft.setMetadata(name, value)
  draft.setMetric('start', seconds(span.startMs))
  draft.setMetric('end', seconds(span.endMs))
  const parent = span.parentSpanId ?? outer?.spanId
  return {
    id: span.spanId,
    span_id: span.spanId,
    root_span_id: outer?.rootSpanId ?? span.traceId,
    ...(parent !== undefined && { span_parents: [parent] }),
    ...(span.startMs !== undefined && { created: formatTimestamp(Math.floor(span.startMs)) }),
    span_attributes: { name: span.name, ...draft.spanAttributes, type: draft.type ?? 'task' },
    ...draft.fields(),
    _is_merge: true,
  }
}

/** Where in the program the span was made, by what and on what. */
function addContext(span: OtlpSpan, reader: AttributeReader, draft: RecordDraft): void {
  const add = (name: string, value: Value | undefined) => {
    if (value !== undefined) draft.addAll('context', { [name]: value })
  }
  add('caller_functionname', reader.take('code.function.name', 'code.function'))
  add('caller_filename', reader.take('code.file.path', 'code.filepath'))
  add('caller_lineno', reader.takeNumber('code.line.number', 'code.lineno'))
  add('span_kind', kinds[span.kind])
  draft.addOrigin(span.scope, span.resource)
  if (span.links.length > 0) {
    add(
      'links',
      span.links.map(({ traceId, spanId, attributes }) => ({
        root_span_id: traceId,
        span_id: spanId,
        attributes: objectOfAttributes(attributes),
      })),
    )
  }
}

/** The exception that was recorded, or else what the status says. */
function addError(span: OtlpSpan, events: readonly OtlpEvent[], draft: RecordDraft): void {
  if (draft.error !== null) return
  const exception = events.findLast(({ name }) => name === 'exception')
  if (exception) draft.error = exceptionText(exception.attributes) ?? 'exception'
  else if (span.isError) draft.error = span.statusMessage || 'error'
}

function eventOf({ name, timeMs, attributes }: OtlpEvent): Value {
  return {
    name,
    ...(timeMs !== undefined && { time: formatTimestamp(timeMs) }),
    attributes: objectOfAttributes(attributes),
  }
}

function objectOfAttributes(attributes: Attributes): JsonObject {
  return Object.fromEntries(attributes)
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000
}
