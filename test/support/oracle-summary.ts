/** What the shape `summary` says of a trace, for the row oracle. */
import type { PathPart } from '../../src/type/value.ts'
import { aggregate } from './oracle-aggregate.ts'
import { type Item, step } from './oracle-row.ts'
import { costOf, repeatsUsage } from './oracle-usage.ts'
import { isRecord, number, type Plain } from './oracle-value.ts'

/** Metrics that only a whole trace has. */
export const traceMetrics: readonly string[] = [
  ...['duration', 'llm_duration', 'total_tokens'],
  ...['llm_calls', 'tool_calls', 'llm_errors', 'tool_errors', 'errors'],
]

/** @param spans of one trace, newest first; at least one */
export function summaryItem(spans: readonly Item[]): Item {
  const isRoot = (span: Item) => span.read(['is_root']) === true
  const shown = spans.findLast(isRoot) ?? spans.at(-1)!
  const metrics = metricsOf(spans)
  const scores = over('avg_entries', spans, ['scores'])
  const star = { ...shown.star, scores, metrics, span_type_info: typeInfo(shown, spans) }
  const read = (path: readonly PathPart[]): Plain | undefined => {
    const [name, ...rest] = path
    if (name === 'scores' || name === 'span_type_info') return step(star[name], rest)
    if (name === 'metrics') return step(metrics, rest)
    if (name === 'duration' && rest.length === 0) return step(metrics, [name])
    return shown.read(path)
  }
  return {
    read,
    hasAnyName: false,
    nested: (name) => (traceMetrics.includes(name) ? [['metrics', name]] : shown.nested(name)),
    star,
    trace: spans,
    paginationKey: shown.paginationKey,
    object: shown.object,
  }
}

function metricsOf(spans: readonly Item[]): Plain {
  const ofType = (type: string) =>
    spans.filter((span) => span.read(['span_attributes', 'type']) === type)
  const failed = (type: string) =>
    ofType(type).filter((span) => (span.read(['error']) ?? null) !== null)
  const sum = (of: readonly Item[], name: string) => over('sum', of, ['metrics', name])
  const start = over('min', spans, ['metrics', 'start'])
  const end = over('max', spans, ['metrics', 'end'])
  const counted = spans.filter((span) => !repeatsUsage(span))
  const tokens = counted.map((span) => [
    span.read(['metrics', 'total_tokens']) ?? span.read(['metrics', 'tokens']) ?? null,
  ])
  const durations = ofType('llm').map((span) => [
    difference(span.read(['metrics', 'start']) ?? null, span.read(['metrics', 'end']) ?? null),
  ])
  const known: Record<string, Plain> = {
    start,
    end,
    duration: difference(start, end),
    llm_duration: aggregate('sum', durations, false, null),
    llm_calls: ofType('llm').filter((span) => counted.includes(span)).length,
    tool_calls: ofType('tool').length,
    llm_errors: failed('llm').length,
    tool_errors: failed('tool').length,
    errors: failed('llm').length + failed('tool').length,
    total_tokens: aggregate('sum', tokens, false, null),
    estimated_cost: aggregate(
      'sum',
      spans.map((span) => [costOf(span)]),
      false,
      null,
    ),
    time_to_first_token: over('avg', ofType('llm'), ['metrics', 'time_to_first_token']),
  }
  for (const kind of ['prompt', 'completion', 'prompt_cached', 'prompt_cache_creation']) {
    known[`${kind}_tokens`] = sum(counted, `${kind}_tokens`)
  }
  for (const name of ['tokens', 'completion_reasoning_tokens']) known[name] = sum(counted, name)
  const others = over('sum_entries', spans, ['metrics'])
  return { ...sorted(isRecord(others) ? others : {}), ...sorted(known) }
}

function typeInfo(shown: Item, spans: readonly Item[]): Plain {
  const attributes = shown.read(['span_attributes']) ?? null
  const calls = spans.filter((span) => span.read(['span_attributes', 'type']) === 'llm')
  const isCached = (span: Item) => (number(span.read(['metrics', 'cached']) ?? null) ?? 0) > 0
  return {
    ...(isRecord(attributes) ? attributes : {}),
    cached: calls.length > 0 && calls.every(isCached),
    has_error: spans.some((span) => (span.read(['error']) ?? null) !== null),
  }
}

function sorted(object: Readonly<Record<string, Plain>>): Record<string, Plain> {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function over(name: string, spans: readonly Item[], path: readonly PathPart[]): Plain {
  return aggregate(
    name,
    spans.map((span) => [span.read(path) ?? null]),
    false,
    null,
  )
}

function difference(start: Plain, end: Plain): Plain {
  return number(start) === null || number(end) === null ? null : number(end)! - number(start)!
}
