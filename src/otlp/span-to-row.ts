/** What a span of OpenTelemetry is as a row of `/logs3`, but for the object that it belongs to. */
import type { JsonObject, Value } from '../type/value.ts'
import { AttributeReader } from './attribute-reader.ts'
import { readBraintrust } from './convention/braintrust.ts'
import { readGenAi, readGenAiEvents } from './convention/gen-ai.ts'
import { readOpenInference } from './convention/open-inference.ts'
import { readOpenLlmetry } from './convention/open-llmetry.ts'
import { readVercelAi } from './convention/vercel-ai.ts'
import { type Attributes, secondsOf, timestampOf } from './decode.ts'
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
  const reader = new AttributeReader(span.attributes, (text) => span.remarks.push(text))
  const draft = new RecordDraft()
  readBraintrust(reader, draft)
  const events = readGenAiEvents(span.events, draft)
  readGenAi(reader, draft)
  readOpenInference(reader, draft)
  readVercelAi(reader, draft)
  readOpenLlmetry(reader, draft)
  addContext(span, reader, draft)
  const cause = addError(span, events, draft)
  const others = events.filter((event) => event !== cause)
  if (others.length > 0) draft.context.events = others.map(eventOf)
  for (const [name, value] of reader.rest()) draft.setMetadata(name, value)
  draft.setMetric('start', seconds(span.start))
  draft.setMetric('end', seconds(span.end))
  const parent = span.parentSpanId ?? outer?.spanId
  return {
    id: span.spanId,
    span_id: span.spanId,
    root_span_id: outer?.rootSpanId ?? span.traceId,
    ...(parent !== undefined && { span_parents: [parent] }),
    ...(span.start !== undefined && { created: timestampOf(span.start) }),
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

/**
 * The last exception that was recorded, or else what the status says. A span that says that it went
 * well has no error, whatever it met on its way; one that says nothing has none if the exceptions that
 * it met did not leave it. Returns the event that the error is from.
 */
function addError(
  span: OtlpSpan,
  events: readonly OtlpEvent[],
  draft: RecordDraft,
): OtlpEvent | undefined {
  if (draft.error !== null || span.status === 'ok') return undefined
  const exception = events.findLast(
    ({ name, attributes }) =>
      name === 'exception' && (span.status === 'error' || hasEscaped(attributes)),
  )
  if (exception) draft.error = exceptionText(exception.attributes) ?? 'exception'
  else if (span.status === 'error') draft.error = span.statusMessage || 'error'
  return exception
}

function hasEscaped(attributes: Attributes): boolean {
  return String(attributes.get('exception.escaped')).toLowerCase() !== 'false'
}

function eventOf({ name, time, attributes }: OtlpEvent): Value {
  return {
    name,
    ...(time !== undefined && { time: timestampOf(time) }),
    attributes: objectOfAttributes(attributes),
  }
}

function objectOfAttributes(attributes: Attributes): JsonObject {
  return Object.fromEntries(attributes)
}

function seconds(time: bigint | undefined): number | undefined {
  return time === undefined ? undefined : secondsOf(time)
}
