/** Names and values as a query writes them. */
import { writeExactJson } from '../../json/exact-number.ts'
import { quoted } from './query.ts'

/** A field below another, whatever it is called: `` scores.`Step Efficiency` ``. */
export function fieldOf(first: string, ...steps: readonly string[]): string {
  return [first, ...steps.map(named)].join('.')
}

function named(step: string): string {
  return /^[A-Za-z_]\w*$/.test(step) ? step : `\`${step.replace(/[\\`]/g, '\\$&')}\``
}

/** The condition that a field has a value that JSON gave. */
export function hasValue(field: string, value: unknown): string {
  if (value === null || value === undefined) return `${field} is null`
  if (typeof value === 'string') return `${field} = ${quoted(value)}`
  return `${field} = ${writeExactJson(value)}`
}
