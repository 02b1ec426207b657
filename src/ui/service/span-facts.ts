/** What is read off a record that is a span: how it is called, when it ran, whether it failed. */
import { at, type Row } from './query.ts'

export function nameOf(span: Row): string {
  const name = at(span, 'span_attributes', 'name')
  return typeof name === 'string' && name !== '' ? name : String(span.span_id)
}

export function typeOf(span: Row): string {
  return String(at(span, 'span_attributes', 'type') ?? 'span')
}

/** In seconds since 1970; NaN if nothing says it. */
export function startOf(span: Row): number {
  const start = at(span, 'metrics', 'start')
  return typeof start === 'number' ? start : Date.parse(String(span.created)) / 1000
}

/** In seconds since 1970. A span that does not say it ends when it starts. */
export function endOf(span: Row): number {
  const end = at(span, 'metrics', 'end')
  return typeof end === 'number' ? end : startOf(span)
}

/** In seconds; undefined if nothing says it. */
export function durationOf(span: Row): number | undefined {
  const logged = at(span, 'metrics', 'duration')
  if (typeof logged === 'number') return logged
  const [start, end] = [at(span, 'metrics', 'start'), at(span, 'metrics', 'end')]
  return typeof start === 'number' && typeof end === 'number' ? end - start : undefined
}
