/** Functions of JSON, arrays, kinds and times, for the row oracle. */
import { parseJson } from '../../src/type/parse-json.ts'
import { type OracleFunction, slice } from './oracle-text-function.ts'
import {
  identity,
  isList,
  isRecord,
  kind,
  Moment,
  moment,
  order,
  type Plain,
  Span,
  same,
  text,
} from './oracle-value.ts'

function parsed(value: Plain): Plain {
  if (typeof value !== 'string') return value
  try {
    return parseJson(value) as Plain
  } catch {
    return null
  }
}

function steps(path: string): (string | number)[] | undefined {
  const rest = path.replace(/^\$/, '')
  const form = /^(?:\.?[^.[\]"]+|\.?"[^"]*"|\[-?\d+\]|\["[^"]*"\])*$/
  if (path === '' || !form.test(rest) || (rest === path) === /^\./.test(rest)) {
    if (!(rest !== path && (rest === '' || rest.startsWith('[')))) return undefined
  }
  return Array.from(rest.matchAll(/"([^"]*)"|\[(-?\d+)\]|([^.[\]"]+)/g), ([, a, index, b]) =>
    index === undefined ? (a ?? b!) : Number(index),
  )
}

function extract([value = null, path = null]: readonly Plain[]): Plain {
  let current = parsed(value)
  if (typeof path === 'string' && isRecord(current) && Object.hasOwn(current, path)) {
    return current[path]!
  }
  const way = typeof path === 'number' ? [path] : typeof path === 'string' ? steps(path) : undefined
  if (!way) return null
  for (const part of way) {
    if (typeof part === 'number') current = isList(current) ? (current.at(part) ?? null) : null
    else current = isRecord(current) && Object.hasOwn(current, part) ? current[part]! : null
  }
  return current
}

const kindNames: Record<string, string> = { moment: 'timestamp', span: 'interval' }

export const jsonFunctions: Record<string, OracleFunction> = {
  json_extract: extract,
  json_parse: ([value = null]) => parsed(value),
  json_keys: ([value = null]) => (isRecord(value) ? Object.keys(value).toSorted(order) : null),
  merge_objects: (values) => {
    const objects = values.filter(isRecord)
    if (objects.length === 0) return null
    return Object.fromEntries(objects.flatMap((object) => Object.entries(object)))
  },
  vector: ([value = null]) =>
    isList(value) && value.every((item) => kind(item) === 'number') ? value : null,
  array_length: ([value = null]) => (isList(value) ? value.length : null),
  array_contains: ([value = null, item = null]) =>
    isList(value) ? value.some((other) => same(other, item)) : null,
  array_distinct: ([value = null]) =>
    isList(value)
      ? value.filter((item, i) => value.findIndex((x) => identity(x) === identity(item)) === i)
      : null,
  array_join: ([value = null, by = null]) =>
    isList(value)
      ? value
          .filter((item) => item !== null)
          .map(text)
          .join(text(by))
      : null,
  slice,
  typeof: ([value = null]) => kindNames[kind(value)] ?? kind(value),
  if: ([condition = null, a = null, b = null]) => (condition === true ? a : b),
}

const partOf: Record<string, (local: Date, time: Moment) => number> = {
  year: (local) => local.getUTCFullYear(),
  quarter: (local) => Math.ceil((local.getUTCMonth() + 1) / 3),
  month: (local) => local.getUTCMonth() + 1,
  day: (local) => local.getUTCDate(),
  hour: (local) => local.getUTCHours(),
  minute: (local) => local.getUTCMinutes(),
  second: (local, { fraction }) =>
    (local.getUTCSeconds() * 1e6 + local.getUTCMilliseconds() * 1000 + fraction) / 1e6,
  dow: (local) => local.getUTCDay(),
  doy: (local) =>
    Math.round((midnight(local) - Date.UTC(local.getUTCFullYear(), 0, 1)) / 86_400_000) + 1,
  week: (local) => {
    const thursday = new Date(midnight(local) + (4 - (local.getUTCDay() || 7)) * 86_400_000)
    const first = Date.UTC(thursday.getUTCFullYear(), 0, 1)
    return Math.floor((thursday.getTime() - first) / 604_800_000) + 1
  },
}

function midnight(date: Date): number {
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate())
}

function seconds(value: Plain): number | null {
  const time = moment(value)
  return time ? Number(time.micros) / 1e6 : null
}

/** How many of a unit have begun since 1970, in UTC. */
const begun: Record<string, (ms: number) => number> = {
  millisecond: (ms) => Math.floor(ms),
  second: (ms) => Math.floor(ms / 1000),
  minute: (ms) => Math.floor(ms / 60_000),
  hour: (ms) => Math.floor(ms / 3_600_000),
  day: (ms) => Math.floor(ms / 86_400_000),
  week: (ms) => Math.floor((ms + 3 * 86_400_000) / 604_800_000),
  month: (ms) => new Date(ms).getUTCFullYear() * 12 + new Date(ms).getUTCMonth(),
  quarter: (ms) => Math.floor(begun.month!(ms) / 3),
  year: (ms) => new Date(ms).getUTCFullYear(),
}

/** Amounts of days and of what is shorter. */
const unitMs: Record<string, number> = {
  millisecond: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
}

function isoInterval(value: string): Span | null {
  const amount = '(-?[\\d.]+)'
  const form = new RegExp(
    `^P(?:${amount}Y)?(?:${amount}M)?(?:${amount}D)?(?:T(?:${amount}H)?(?:${amount}M)?(?:${amount}S)?)?$`,
  )
  const match = form.exec(value)
  if (!match || /[PT]$/.test(value)) return null
  const [years, months, days, hours, minutes, secs] = match.slice(1).map((x) => Number(x ?? 0))
  const ms = days! * 86_400_000 + hours! * 3_600_000 + minutes! * 60_000 + secs! * 1000
  return new Span(years! * 12 + months!, Math.round(ms * 1000) / 1000)
}

export const timeFunctions: Record<string, OracleFunction> = {
  date_part: ([part = null, value = null]) => {
    const time = moment(value)
    if (!time || typeof part !== 'string') return null
    if (part === 'epoch') return seconds(value)
    return partOf[part]?.(new Date(time.ms), time) ?? null
  },
  date_diff: ([unit = null, from = null, to = null]) => {
    const [start, end] = [moment(from), moment(to)]
    const count = typeof unit === 'string' ? begun[unit.replace(/s$/, '')] : undefined
    if (start && end && /^microseconds?$/.test(String(unit))) {
      const difference = end.micros - start.micros
      return Number.isSafeInteger(Number(difference)) ? Number(difference) : difference
    }
    return start && end && count ? count(end.ms) - count(start.ms) : null
  },
  extract_epoch: ([value = null]) =>
    typeof value === 'number' && Math.abs(value) <= 8.64e12
      ? seconds(new Moment(Math.round(value * 1e6) / 1000))
      : seconds(value),
  /** Of texts such as `1 day 2 hours`, of intervals in ISO 8601, and of numbers of seconds. */
  to_interval: ([value = null]) => {
    if (value instanceof Span) return value
    if (typeof value === 'number') {
      return Math.abs(value) > 1.728e13 ? null : new Span(0, Math.round(value * 1e6) / 1000)
    }
    if (typeof value !== 'string') return null
    if (/^P/.test(value)) return isoInterval(value)
    const parts = [...value.trim().matchAll(/(-?\d+) ([a-z]+?)s?(?: |$)/g)]
    if (parts.map(([part]) => part).join('') !== value.trim() || parts.length === 0) return null
    if (parts.some(([, , unit]) => !(unit! in unitMs))) return null
    return new Span(
      0,
      parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * unitMs[unit!]!, 0),
    )
  },
}
