/** The scalar functions and operators on text and collections, for the row oracle. */
import { jsonFunctions, timeFunctions } from './oracle-json-function.ts'
import { numberFunctions, textFunctions } from './oracle-text-function.ts'
import {
  before,
  equal,
  finite,
  isList,
  isRecord,
  kind,
  Moment,
  moment,
  number,
  order,
  type Plain,
  same,
  text,
} from './oracle-value.ts'

export interface OracleClock {
  readonly now: number
  readonly tzOffset: number
}

export function like(value: Plain, pattern: Plain, ignoreCase: boolean): boolean | null {
  if (value === null || typeof pattern !== 'string') return null
  const fold = (part: string) => (ignoreCase ? part.toLowerCase() : part)
  const source = fold(pattern).replace(/\\(.)|([%_])|(.)/gsu, (_, escaped, wild, plain) =>
    wild === '%' ? '.*' : wild === '_' ? '.' : literal(escaped ?? plain),
  )
  return new RegExp(`^(?:${source})$`, 'su').test(fold(text(value)))
}

function quoted(part: string): string {
  return Array.from(part, literal).join('')
}

function literal(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`
}

export function includes(haystack: Plain, needle: Plain): boolean | null {
  if (haystack === null || needle === null) return null
  if (!isList(needle)) return holds(haystack, needle)
  const held = needle.map((item) => (item === null ? null : holds(haystack, item)))
  return held.includes(false) ? false : held.includes(null) ? null : true
}

function holds(haystack: Plain, needle: Plain): boolean {
  const contains = (whole: Plain, part: Plain): boolean =>
    isRecord(whole) && isRecord(part)
      ? Object.keys(part).every(
          (key) => Object.hasOwn(whole, key) && contains(whole[key]!, part[key]!),
        )
      : same(whole, part)
  if (typeof haystack === 'string') {
    return typeof needle === 'string' && new RegExp(quoted(needle), 'u').test(haystack)
  }
  if (isList(haystack)) return haystack.some((item) => contains(item, needle))
  if (!isRecord(haystack)) return false
  if (isRecord(needle)) return contains(haystack, needle)
  return Object.values(haystack).some((item) => same(item, needle))
}

export function isIn(value: Plain, list: Plain): boolean | null {
  if (value === null || !isList(list)) return null
  const results = list.map((item) => equal(value, item))
  return results.includes(true) ? true : results.includes(null) ? null : false
}

export function between(value: Plain, low: Plain, high: Plain): boolean | null {
  const [fromLow, toHigh] = [before(low, value), before(value, high)]
  const sides = [fromLow && fromLow > 0 ? false : fromLow === null ? null : true]
  sides.push(toHigh && toHigh > 0 ? false : toHigh === null ? null : true)
  return sides.includes(false) ? false : sides.includes(null) ? null : true
}

function exactInteger(digits: string): number | bigint {
  const exact = BigInt(digits.trim().replace('+', ''))
  return BigInt(Number(exact)) === exact ? Number(exact) : exact
}

const unitMs: Record<string, number> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
}

function start(unit: string, at: Plain, { tzOffset }: OracleClock): Plain {
  const time = moment(at)
  if (!time) return null
  const away = tzOffset * 60_000
  const local = new Date(time.ms - away)
  const [count, name] = /^\d/.test(unit) ? unit.split(/ +/) : ['1', unit]
  const step = unitMs[name!.replace(/s$/, '')]
  if (step)
    return new Moment(
      Math.floor((time.ms - away) / (step * Number(count))) * step * Number(count) + away,
    )
  const year = local.getUTCFullYear()
  const month = local.getUTCMonth()
  const midnight = Math.floor((time.ms - away) / 86_400_000) * 86_400_000
  if (count !== '1') return null
  const starts: Record<string, number> = {
    week: midnight - ((local.getUTCDay() + 6) % 7) * 86_400_000,
    month: Date.UTC(year, month, 1),
    quarter: Date.UTC(year, month - (month % 3), 1),
    year: Date.UTC(year, 0, 1),
  }
  return new Moment(starts[name!.replace(/s$/, '')]! + away)
}

const furtherFunctions = {
  ...textFunctions,
  ...numberFunctions,
  ...jsonFunctions,
  ...timeFunctions,
}

const otherNames: Record<string, string> = {
  strpos: 'position',
  regexp_matches: 'regexp_match',
  regexp_like: 'regexp_match',
  truncate: 'trunc',
  object_keys: 'json_keys',
  vector_keys: 'json_keys',
  array_slice: 'slice',
  iff: 'if',
  datediff: 'date_diff',
  datepart: 'date_part',
  to_unixtime: 'extract_epoch',
}

/** Functions that look past null. */
const lenient = new Set([
  ...['coalesce', 'ifnull', 'concat', 'nullif', 'least', 'greatest'],
  ...['if', 'iff', 'typeof', 'merge_objects'],
])

/** Calls a scalar function; undefined when the oracle does not know it. */
export function call(name: string, args: readonly Plain[], clock: OracleClock): Plain | undefined {
  if (args.includes(null) && !lenient.has(name)) return null
  const [a = null, b = null, c = null] = args
  const some = args.filter((value) => value !== null).toSorted(order)
  switch (name) {
    case 'second':
    case 'minute':
    case 'hour':
    case 'day':
    case 'week':
    case 'month':
    case 'quarter':
    case 'year':
      return start(name, a, clock)
    case 'date_trunc':
      return start(text(a).toLowerCase(), b, clock)
    case 'now':
    case 'current_timestamp':
      return new Moment(clock.now)
    case 'current_date':
      return start('day', new Moment(clock.now), clock)
    case 'lower':
      return text(a).toLowerCase()
    case 'upper':
      return text(a).toUpperCase()
    case 'concat':
      return args.map((value) => (value === null ? '' : text(value))).join('')
    case 'length':
    case 'len':
      if (isRecord(a)) return Object.keys(a).length
      return typeof a === 'string' ? [...a].length : isList(a) ? a.length : null
    case 'includes':
    case 'contains':
      return includes(a, b)
    case 'starts_with':
      return text(a).startsWith(text(b))
    case 'ends_with':
      return text(a).endsWith(text(b))
    case 'substr':
    case 'substring': {
      const characters = [...text(a)].map((character, i) => ({ character, at: i + 1 }))
      const end = args.length > 2 ? number(b)! + number(c)! : Number.POSITIVE_INFINITY
      return characters
        .filter(({ at }) => at >= number(b)! && at < end)
        .map((x) => x.character)
        .join('')
    }
    case 'replace':
      return text(b) === '' ? text(a) : text(a).replaceAll(text(b), () => text(c))
    case 'coalesce':
    case 'ifnull':
      return args.find((value) => value !== null) ?? null
    case 'nullif':
      return same(a, b) ? null : a
    case 'least':
      return some[0] ?? null
    case 'greatest':
      return some.at(-1) ?? null
    case 'round': {
      if (typeof a === 'bigint' && (number(b) ?? 0) >= 0) return a
      const x = number(a)
      const places = args.length > 1 ? number(b) : 0
      if (x === null || places === null || !Number.isInteger(places)) return null
      const unit = 10 ** Math.abs(places)
      const scaled = places < 0 ? Math.abs(x) / unit : Math.abs(x) * unit
      // All of its digits are far before the one to round.
      if (scaled >= 2 ** 52) return x
      const rounded = places < 0 ? Math.round(scaled) * unit : Math.round(scaled) / unit
      return Math.sign(x) * rounded
    }
    case 'abs':
      if (typeof a === 'bigint') return a < 0n ? -a : a
      return number(a) === null ? null : Math.abs(number(a)!)
    case 'floor':
      if (typeof a === 'bigint') return a
      return number(a) === null ? null : Math.floor(number(a)!)
    case 'ceil':
    case 'ceiling':
      if (typeof a === 'bigint') return a
      return number(a) === null ? null : Math.ceil(number(a)!)
    case 'sqrt':
      return number(a) === null ? null : finite(Math.sqrt(number(a)!))
    case 'ln':
      return number(a) === null ? null : finite(Math.log(number(a)!))
    case 'exp':
      return number(a) === null ? null : finite(Math.exp(number(a)!))
    case 'power':
    case 'pow':
      return number(a) === null || number(b) === null ? null : finite(number(a)! ** number(b)!)
    case 'to_string':
      return text(a)
    case 'to_number': {
      if (kind(a) !== 'string') return kind(a) === 'number' ? a : number(a)
      const decimal = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(a as string)
      if (/^\s*[+-]?\d+\s*$/.test(a as string)) return exactInteger(a as string)
      return decimal ? finite(Number(a)) : null
    }
    case 'to_integer': {
      const value = call('to_number', [a], clock)
      return typeof value === 'number' ? Math.trunc(value) : (value ?? null)
    }
    case 'to_boolean':
      if (typeof a === 'boolean') return a
      if (kind(a) === 'number') return Number(a) !== 0
      if (typeof a !== 'string') return null
      return { true: true, '1': true, false: false, '0': false }[a.trim().toLowerCase()] ?? null
    case 'to_date':
      return start('day', call('to_timestamp', [a], clock) ?? null, clock)
    case 'to_timestamp':
    case 'to_datetime':
      if (typeof a !== 'number') return moment(a)
      return Math.abs(a) <= 8.64e12 ? new Moment(Math.round(a * 1e6) / 1000) : null
    default:
      return furtherFunctions[otherNames[name] ?? name]?.(args)
  }
}
