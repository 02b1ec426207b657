/** Intervals from text. */
import { type IntervalUnit, maxTimestampMs, toInterval, toMicroseconds } from './time.ts'
import { Interval } from './value.ts'

const dateUnits: Readonly<Record<string, IntervalUnit>> = {
  Y: 'year',
  M: 'month',
  W: 'week',
  D: 'day',
}
const timeUnits: Readonly<Record<string, IntervalUnit>> = { H: 'hour', M: 'minute', S: 'second' }

/** The units that intervals are written in, the longest first. */
export const intervalUnits: readonly IntervalUnit[] = [
  'year',
  'month',
  'week',
  'day',
  'hour',
  'minute',
  'second',
  'millisecond',
  'microsecond',
]

const amount = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)`
const isoPattern = new RegExp(`^(-?)P((?:${amount}[YMWD])*)(?:T((?:${amount}[HMS])+))?$`, 'i')
const isoPart = new RegExp(`(${amount})([YMWDHS])`, 'gi')
const wordsPattern = new RegExp(`^(?:${amount}\\s*[a-z]+[\\s,]*)+$`, 'i')
const wordsPart = new RegExp(`(${amount})\\s*([a-z]+)`, 'gi')

/**
 * Reads an ISO 8601 duration such as `P1DT2H`, or amounts with units such as `1 day 2 hours`.
 * Undefined for anything else, and for what is longer than the calendar.
 */
export function parseInterval(text: string): Interval | undefined {
  const trimmed = text.trim()
  const parts = isoParts(trimmed) ?? wordParts(trimmed)
  if (!parts || parts.length === 0) return undefined
  let [months, ms] = [0, 0]
  for (const [value, unit] of parts) {
    const interval = toInterval(value, unit)
    months += interval.months
    ms += interval.ms
  }
  const longest = 2 * maxTimestampMs
  if (!(Math.abs(months) * 30 * 86_400_000 + Math.abs(ms) <= longest)) return undefined
  return new Interval(months + 0, toMicroseconds(ms) + 0)
}

type Part = readonly [amount: number, unit: IntervalUnit]

function isoParts(text: string): Part[] | undefined {
  const match = isoPattern.exec(text)
  if (!match) return undefined
  const [, sign, date = '', time = ''] = match
  const factor = sign === '-' ? -1 : 1
  const read = (part: string, units: Readonly<Record<string, IntervalUnit>>): Part[] =>
    Array.from(part.matchAll(isoPart), ([, value, letter]) => [
      factor * Number(value),
      units[letter!.toUpperCase()]!,
    ])
  return [...read(date, dateUnits), ...read(time, timeUnits)]
}

function wordParts(text: string): Part[] | undefined {
  if (!wordsPattern.test(text)) return undefined
  const parts: Part[] = []
  for (const [, value, word] of text.matchAll(wordsPart)) {
    const name = word!.toLowerCase()
    const unit = intervalUnits.find((candidate) => name === candidate || name === `${candidate}s`)
    if (!unit) return undefined
    parts.push([Number(value), unit])
  }
  return parts
}
