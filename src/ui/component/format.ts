/** Values as people read them. */
import { isJsonObject, writeExactJson } from '../../json/exact-number.ts'
import { conversationOf, lastTextOf } from './message-forms.ts'

/** A value of JSON on one line, cut to what a cell can show: of messages what they say. */
export function preview(value: unknown, length = 300): string {
  if (value === null || value === undefined) return ''
  const text =
    typeof value === 'string'
      ? (toldByText(value) ?? value)
      : (toldBy(value) ?? writeExactJson(value))
  return oneLine(text, length)
}

/** Of a text only so many characters. */
export function oneLine(text: string, length: number): string {
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

/** Of JSON that a text has, which may be cut. */
function toldByText(text: string): string | undefined {
  if (!/^\s*(\[\s*)*\{/.test(text)) return undefined
  try {
    return toldBy(JSON.parse(text))
  } catch {
    const [, last] = [...text.matchAll(saidInJson)].at(-1) ?? []
    return last === undefined ? undefined : unescaped(last)
  }
}

const saidInJson = /"(?:content|text|message|question|prompt|query)"\s*:\s*"((?:[^"\\]|\\.)+)/g

/** Without an escape that was cut. */
function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text.replace(/\\u[\da-f]{0,3}$/i, '')}"`))
  } catch {
    return text
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isJsonObject(value)
}

/** With Unicode's minus, as all numbers have it that are written here. */
function signed(text: string): string {
  return text.replace('-', '−')
}

const counts = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const decimals = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 4 })
const twoDigits = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 2 })
const threeDigits = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 })
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

export function number(value: unknown): string {
  if (typeof value !== 'number') return preview(value)
  return Number.isInteger(value) ? counts.format(value) : decimals.format(value)
}

/** Of counts: `2,106`, `1.98`. */
export function mean(value: number): string {
  return (Math.abs(value) < 100 ? threeDigits : counts).format(value)
}

/** How far means are from each other: `32`, `0.0087`. */
export function meanChange(value: number): string {
  return (Math.abs(value) < 100 ? twoDigits : counts).format(value)
}

/** Where there is little room: 12,345 are 12.3K. */
export function compact(value: number): string {
  return value < 10_000 ? number(value) : short.format(value)
}

/** `1 span`, `1,500 spans`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${counts.format(count)} ${count === 1 ? one : many}`
}

const timeUnits = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const

/** 0.042 s is 42 ms; 75 s is 1 min 15 s; 7,260 s are 2 h 1 min. */
export function duration(seconds: unknown): string {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return ''
  if (seconds < 0) return `−${duration(-seconds)}`
  const milliseconds = seconds * 1000
  if (milliseconds < 9.95) return `${twoDigits.format(milliseconds)} ms`
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`
  if (seconds < 59.95) return `${seconds.toFixed(seconds < 9.995 ? 2 : 1)} s`
  // Two units tell enough, and what is left of the smaller one is rounded before it is cut up.
  const [step] = timeUnits[
    timeUnits.findIndex(([length]) => length <= Math.round(seconds)) + 1
  ] ?? [1]
  let left = Math.round(seconds / step) * step
  const parts = timeUnits.flatMap(([length, unit]) => {
    const count = Math.floor(left / length)
    left -= count * length
    return count === 0 ? [] : `${count} ${unit}`
  })
  return parts.join(' ')
}

/** A score from 0 to 1: `86.1 %`. */
export function score(value: unknown): string {
  return typeof value === 'number' ? `${signed((value * 100).toFixed(1))} %` : ''
}

/** A part of a whole: `12 %`, and below one `0.4 %`. */
export function share(part: number): string {
  const percent = part * 100
  return `${percent > 0 && percent < 0.995 ? twoDigits.format(percent) : Math.round(percent)} %`
}

/** What something became beside what it was: `+12 %`. */
export function growth(now: number, before: number): string {
  const percent = (now / before - 1) * 100
  const size = Math.abs(percent)
  if (size < 0.5) return '±0 %'
  return `${percent > 0 ? '+' : '−'}${size < 9.95 ? twoDigits.format(size) : counts.format(size)} %`
}

/** A difference between scores, in points of a hundred: `+2.1`. */
export function change(difference: number): string {
  const points = difference * 100
  if (points === 0) return '±0'
  if (Math.abs(points) < 0.005) return '≈0'
  const digits = Math.abs(points) < 0.1 ? 2 : 1
  return `${points > 0 ? '+' : '−'}${Math.abs(points).toFixed(digits)}`
}

/** A distance between scores: `20.0 points`. */
export function points(distance: number): string {
  return `${(distance * 100).toFixed(1)} points`
}

/** How well people agree, from −1 to 1. */
export function kappa(value: number): string {
  return signed(value.toFixed(2))
}

const dollars = new Intl.NumberFormat(undefined, {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
})
const cents = new Intl.NumberFormat(undefined, {
  minimumSignificantDigits: 2,
  maximumSignificantDigits: 2,
})

/** In dollars. Below one, two digits tell as much as of anything else: `$0.63`, `$0.00010`. */
export function cost(value: unknown): string {
  if (typeof value !== 'number') return ''
  if (value === 0) return '$0'
  const size = Math.abs(value)
  return `${value < 0 ? '−' : ''}$${(size < 0.995 ? cents : dollars).format(size)}`
}

/** A metric of a span in the unit that its name tells. */
export function metric(name: string, value: unknown): string {
  if (typeof value !== 'number') return ''
  if (/cost/.test(name)) return cost(value)
  return /duration|time_to/.test(name) ? duration(value) : number(value)
}

const day = { month: 'short', day: 'numeric' } as const
const toMinutes = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const toSeconds = { ...toMinutes, second: '2-digit' } as const

/** Formats of moments, from what is the longest to what is the most exact. */
const moments = {
  month: new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric' }),
  day: new Intl.DateTimeFormat(undefined, day),
  moment: new Intl.DateTimeFormat(undefined, { ...day, ...toMinutes }),
  clock: new Intl.DateTimeFormat(undefined, toMinutes),
  exactClock: new Intl.DateTimeFormat(undefined, toSeconds),
}
const thisYear = new Intl.DateTimeFormat(undefined, { ...day, ...toSeconds })
const anyYear = new Intl.DateTimeFormat(undefined, { ...day, year: 'numeric', ...toSeconds })

export type MomentForm = keyof typeof moments

/** Of one's own time zone. */
export function moment(at: Date, form: MomentForm = 'moment'): string {
  return moments[form].format(at)
}

const daySeconds = 86_400

/** As exact as the length of the axis asks for; both in seconds. */
export function momentOnAxis(seconds: number, length: number): string {
  const at = new Date(seconds * 1000)
  if (length > 400 * daySeconds) return moment(at, 'month')
  if (length < 600) return moment(at, 'exactClock')
  const isMidnight = at.getHours() === 0 && at.getMinutes() === 0
  return moment(at, length > 6 * daySeconds || isMidnight ? 'day' : 'clock')
}

export function momentsBetween(from: Date, to: Date): string {
  return moments.moment.formatRange(from, to)
}

/** To the second, and with its year if that is another than this. */
export function time(value: unknown): string {
  const at = typeof value === 'string' ? new Date(value) : undefined
  if (!at || Number.isNaN(at.getTime())) return ''
  return (at.getFullYear() === new Date().getFullYear() ? thisYear : anyYear).format(at)
}

const yearDay = new Intl.DateTimeFormat(undefined, { ...day, year: 'numeric' })

/** Of a time at which a day begins the day, as groups by day have it. */
export function dayOrTime(value: string): string {
  const at = new Date(value)
  const isDay = at.getHours() + at.getMinutes() + at.getSeconds() + at.getMilliseconds() === 0
  if (!isDay) return time(value) || value
  return at.getFullYear() === new Date().getFullYear() ? moment(at, 'day') : yearDay.format(at)
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
  if (!found) return 'just now'
  // Units as those of durations: `5 min ago`.
  return ages.format(-Math.round(seconds / found[0]), found[1]).replace(/(\p{L})\. /u, '$1 ')
}

/** 1,234,567 bytes are 1.2 MB. */
export function bytes(count: unknown): string {
  if (typeof count !== 'number' || !Number.isFinite(count)) return ''
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  let shown = count
  let step = 0
  // 999.5 kB would be written as 1,000.
  while (shown >= 999.5 && step < units.length - 1) {
    shown /= 1000
    step++
  }
  return `${step === 0 || shown >= 99.95 ? counts.format(shown) : shown.toFixed(1)}\u00a0${units[step]}`
}
