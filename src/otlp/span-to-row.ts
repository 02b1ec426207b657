/** What a span of OpenTelemetry is as a row of `/logs3`, but for the object that it belongs to. */
import type { JsonObject, Value } from '../type/value.ts'
import { AttributeReader } from './attribute-reader.ts'
import { readBraintrust } from './convention/braintrust.ts'
import { readGenAi, readGenAiEvents } from './convention/gen-ai.ts'
import { readGoogleAdk } from './convention/google-adk.ts'
import { readLangfuse } from './convention/langfuse.ts'
import { readLangSmith } from './convention/langsmith.ts'
import { readLiveKit } from './convention/livekit.ts'
import { readMastra } from './convention/mastra.ts'
import { readMlflow } from './convention/mlflow.ts'
import { readOpenInference } from './convention/open-inference.ts'
import { readOpenLlmetry } from './convention/open-llmetry.ts'
import { readPydanticAi } from './convention/pydantic-ai.ts'
import { readVercelAi } from './convention/vercel-ai.ts'
import { type Attributes, secondsOf, timestampOf } from './decode.ts'
import { exceptionText } from './exception.ts'
import { RecordDraft } from './record-draft.ts'
import type { OtlpEvent, OtlpSpan } from './span.ts'
import { readUsage } from './usage/read-usage.ts'

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
  readConventions(reader, draft, span.scope.name)
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

/** What frameworks say of themselves goes before what they say in the words of others. */
function readConventions(reader: AttributeReader, draft: RecordDraft, scope: string): void {
  readLangfuse(reader, draft)
  readLangSmith(reader, draft)
  readMastra(reader, draft)
  readMlflow(reader, draft)
  readGenAi(reader, draft)
  readOpenInference(reader, draft)
  readVercelAi(reader, draft)
  readOpenLlmetry(reader, draft)
  readPydanticAi(reader, draft, scope)
  readGoogleAdk(reader, draft)
  readLiveKit(reader, draft)
  readUsage(reader, draft, scope)
  const { metrics, metadata } = draft
  const hasCalled = metrics.prompt_tokens !== undefined || metrics.completion_tokens !== undefined
  // What counts tokens of a model and is said to be nothing else is a call of it.
  if (hasCalled && metadata.model !== undefined && metadata.agent_name === undefined) {
    draft.type ??= 'llm'
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
  else if (span.status === 'error') draft.error = span.statusMessage || kindOfError(span)
  return exception
}

/** What went wrong, where nobody has said more: `timeout`, `not_found_error`, `404`. */
function kindOfError({ attributes }: OtlpSpan): Value {
  const kind = attributes.get('error.type')
  return typeof kind === 'string' && kind !== '' ? kind : 'error'
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
