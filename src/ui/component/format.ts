/** Values as people read them. */
import { isJsonObject, writeExactJson } from '../../json/exact-number.ts'
import { conversationOf, lastTextOf } from './message-forms.ts'

/** A value of JSON on one line, cut to what a cell can show. */
export function preview(value: unknown, length = 300): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : (toldBy(value) ?? writeExactJson(value))
  const line = text.slice(0, length * 2).replace(/\s+/g, ' ')
  return line.length > length ? `${line.slice(0, length)}…` : line
}

/** What one looks for in a table: what was said last, the message of an error, the only text. */
function toldBy(value: unknown): string | undefined {
  const messages = conversationOf(value)
  const said = messages && lastTextOf(messages)
  if (said !== undefined) return said
  if (!isObject(value)) return undefined
  const [only, ...others] = Object.values(value).filter((each) => typeof each === 'string')
  for (const name of ['message', 'question', 'text', 'content', 'prompt', 'query'] as const) {
    if (typeof value[name] === 'string') return value[name]
  }
  return others.length === 0 && Object.keys(value).length === 1 ? only : undefined
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isJsonObject(value)
}

/** 0.042 s is 42 ms; 75 s is 1 min 15 s. */
export function duration(seconds: unknown): string {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return ''
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

const counts = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const decimals = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 4 })

export function number(value: unknown): string {
  if (typeof value !== 'number') return preview(value)
  return Number.isInteger(value) ? counts.format(value) : decimals.format(value)
}

/** `1 span`, `1,500 spans`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${counts.format(count)} ${count === 1 ? one : many}`
}

export function score(value: unknown): string {
  return typeof value === 'number' ? `${(value * 100).toFixed(1)} %` : ''
}

export function cost(value: unknown): string {
  return typeof value === 'number'
    ? `$${value < 0.01 ? value.toPrecision(2) : value.toFixed(2)}`
    : ''
}

const clock = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
})

export function time(value: unknown): string {
  const at = typeof value === 'string' ? new Date(value) : undefined
  return at && !Number.isNaN(at.getTime()) ? clock.format(at) : ''
}

/** A difference between scores, in points of a hundred: `+2.1`. */
export function change(difference: number): string {
  const points = difference * 100
  if (points === 0) return '±0'
  if (Math.abs(points) < 0.005) return '≈0'
  const digits = Math.abs(points) < 0.1 ? 2 : 1
  return `${points > 0 ? '+' : '−'}${Math.abs(points).toFixed(digits)}`
}

const agesBySeconds: readonly (readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [31_557_600, 'year'],
  [2_629_800, 'month'],
  [604_800, 'week'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
]

const ages = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })

/** How long ago a time was: `3 days ago`. */
export function age(value: unknown): string {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (Number.isNaN(at)) return ''
  const seconds = (Date.now() - at) / 1000
  const found = agesBySeconds.find(([length]) => Math.abs(seconds) >= length)
  return found ? ages.format(-Math.round(seconds / found[0]), found[1]) : 'just now'
}

/** 1,234,567 bytes are 1.2 MB. */
export function bytes(count: unknown): string {
  if (typeof count !== 'number' || !Number.isFinite(count)) return ''
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const step = Math.min(Math.floor(Math.log10(Math.max(count, 1)) / 3), units.length - 1)
  const shown = count / 1000 ** step
  return `${step === 0 || shown >= 100 ? Math.round(shown) : shown.toFixed(1)} ${units[step]}`
}
