/**
 * Values as the row oracle sees them: definitions that are short enough to be right at a glance, and
 * share nothing with those of src/.
 */

export class Moment {
  /** Since 1970, of which doubles hold too few. */
  readonly micros: bigint

  constructor(at: number | bigint) {
    if (typeof at === 'bigint') this.micros = at
    else {
      const whole = Math.floor(at)
      this.micros = BigInt(whole) * 1000n + BigInt(Math.round((at - whole) * 1000))
    }
  }

  /** Whole milliseconds. */
  get ms(): number {
    return Number((this.micros - BigInt(this.fraction)) / 1000n)
  }

  /** The microseconds after those. */
  get fraction(): number {
    return Number(((this.micros % 1000n) + 1000n) % 1000n)
  }
}

export class Span {
  readonly months: number
  readonly ms: number
  constructor(months: number, ms: number) {
    this.months = months
    this.ms = ms
  }
}

export type Plain =
  | null
  | boolean
  | number
  | bigint
  | string
  | Moment
  | Span
  | readonly Plain[]
  | { readonly [key: string]: Plain }

const kinds = ['boolean', 'number', 'moment', 'span', 'string', 'array', 'object'] as const

export function kind(value: Plain): (typeof kinds)[number] | 'null' {
  if (value === null) return 'null'
  if (value instanceof Moment) return 'moment'
  if (value instanceof Span) return 'span'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'number'
  return typeof value as 'boolean' | 'number' | 'string' | 'object'
}

export function isRecord(value: Plain): value is { readonly [key: string]: Plain } {
  return kind(value) === 'object'
}

export function isList(value: Plain): value is readonly Plain[] {
  return Array.isArray(value)
}

/** JSON with keys as they come, or sorted, which makes it the same for equal values. */
export function json(value: Plain, sorted = false): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return `${value}`
  if (typeof value === 'number') return value === 0 ? '0' : `${value}`
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Moment) return JSON.stringify(momentText(value))
  if (value instanceof Span) return JSON.stringify(spanText(value))
  if (isList(value)) return `[${value.map((item) => json(item, sorted)).join(',')}]`
  const keys = sorted ? Object.keys(value).sort() : Object.keys(value)
  return `{${keys.map((key) => `${JSON.stringify(key)}:${json(value[key]!, sorted)}`).join(',')}}`
}

export function text(value: Plain): string {
  if (typeof value === 'string') return value
  return value instanceof Moment || value instanceof Span
    ? JSON.parse(json(value))
    : json(value, true)
}

/** With all digits of integers, as a double and a `bigint` of the same value are one. */
function exact(value: Plain): Plain {
  if (typeof value === 'number') {
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value
  }
  if (isList(value)) return value.map(exact)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, exact(member)]))
}

/** What values share when they are one for grouping: the kind counts too. */
export function identity(value: Plain): string {
  return `${kind(value)} ${json(exact(value), true)}`
}

export function moment(value: Plain): Moment | null {
  if (value instanceof Moment) return value
  if (typeof value !== 'string') return null
  const form =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/.exec(
      value,
    )
  if (!form) return null
  const [, date, minutes = '00:00', seconds = ':00', zone = 'Z'] = form
  const [whole, fraction = ''] = seconds.split('.')
  const offset = zone === 'Z' ? 'Z' : `${zone.replace(':', '')}00`.slice(0, 5)
  const iso = `${date}T${minutes}${whole}${offset.replace(/(\d\d)(\d\d)$/, '$1:$2')}`
  const ms = Date.parse(iso)
  const realDay = new Date(`${date}T00:00:00Z`)
  if (Number.isNaN(ms) || !realDay.toISOString().startsWith(date!)) return null
  if (minutes.startsWith('24')) return null
  return new Moment(BigInt(ms) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, '0')))
}

function momentText({ ms, fraction }: Moment): string {
  const iso = new Date(ms).toISOString()
  if (fraction > 0) return iso.replace('Z', `${`${fraction}`.padStart(3, '0')}Z`)
  return iso.replace('.000Z', 'Z')
}

function spanText({ months, ms }: Span): string {
  const piece = (amount: number, letter: string) => (amount === 0 ? '' : `${amount}${letter}`)
  const date =
    piece(Math.trunc(months / 12), 'Y') +
    piece(months % 12, 'M') +
    piece(Math.trunc(ms / 86_400_000), 'D')
  const time =
    piece(Math.trunc((ms / 3_600_000) % 24), 'H') +
    piece(Math.trunc((ms / 60_000) % 60), 'M') +
    piece(Math.round((ms % 60_000) * 1000) / 1e6, 'S')
  return date + time === '' ? 'PT0S' : `P${date}${time && `T${time}`}`
}

/** Deep equality where null equals null. */
export function same(a: Plain, b: Plain): boolean {
  if (a instanceof Moment && typeof b === 'string') return moment(b)?.micros === a.micros
  if (b instanceof Moment && typeof a === 'string') return same(b, a)
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((item, i) => same(item, b[i]!))
  if (isRecord(a) && isRecord(b)) {
    const keys = Object.keys(a)
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && same(a[key]!, b[key]!))
    )
  }
  return identity(a) === identity(b)
}

/** Sign of the total order; kinds come one after the other. */
export function order(a: Plain, b: Plain): number {
  const rank = (value: Plain) => (kinds as readonly string[]).indexOf(kind(value))
  if (rank(a) !== rank(b)) return Math.sign(rank(a) - rank(b))
  if (a instanceof Moment && b instanceof Moment) return Number(a.micros - b.micros)
  if (a instanceof Span && b instanceof Span) {
    const days = (span: Span) => span.months * 30 + span.ms / 86_400_000
    return Math.sign(days(a) - days(b) || a.months - b.months)
  }
  if (kind(a) === 'number')
    return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0
  if (typeof a === 'boolean') return Math.sign(Number(a) - Number(b))
  const points = (value: Plain) =>
    Array.from(
      typeof value === 'string' ? value : json(exact(value), true),
      (each) => each.codePointAt(0)!,
    )
  const [left, right] = [points(a), points(b)]
  const at = left.findIndex((point, i) => point !== right[i])
  return at < 0 ? left.length - right.length : left[at]! - (right[at] ?? -1)
}

/** Three-valued equality. */
export function equal(a: Plain, b: Plain): boolean | null {
  if (a === null || b === null) return null
  if (a instanceof Moment && typeof b === 'string' && !moment(b)) return null
  if (b instanceof Moment && typeof a === 'string' && !moment(a)) return null
  return same(a, b)
}

/** Three-valued order: null between kinds. */
export function before(a: Plain, b: Plain): number | null {
  if (a === null || b === null) return null
  const left = b instanceof Moment && typeof a === 'string' ? moment(a) : a
  const right = a instanceof Moment && typeof b === 'string' ? moment(b) : b
  if (left === null || right === null || kind(left) !== kind(right)) return null
  return order(left, right)
}

export function number(value: Plain): number | null {
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
    ? Number(value)
    : null
}

export function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

export function shift(from: Moment, by: Span, sign: number): Moment | null {
  const date = new Date(from.ms)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + sign * by.months)
  const monthEnd = new Date(date)
  monthEnd.setUTCMonth(monthEnd.getUTCMonth() + 1)
  monthEnd.setUTCDate(0)
  date.setUTCDate(Math.min(day, monthEnd.getUTCDate()))
  const moved = new Moment(date.getTime()).micros + BigInt(from.fraction)
  const to = new Moment(moved + new Moment(sign * by.ms).micros)
  return Math.abs(to.ms) <= 8.64e15 ? to : null
}

export function calculate(operator: string, a: Plain, b: Plain): Plain {
  if (a instanceof Moment && b instanceof Span && operator === 'add') return shift(a, b, 1)
  if (a instanceof Span && b instanceof Moment && operator === 'add') return shift(b, a, 1)
  if (a instanceof Moment && b instanceof Span && operator === 'sub') return shift(a, b, -1)
  if (a instanceof Moment && b instanceof Moment) {
    return operator === 'sub' ? new Span(0, Number(a.micros - b.micros) / 1000) : null
  }
  if (a instanceof Span && b instanceof Span) {
    if (operator === 'add') return new Span(a.months + b.months, a.ms + b.ms)
    return operator === 'sub' ? new Span(a.months - b.months, a.ms - b.ms) : null
  }
  if (operator === 'mul' && a instanceof Span && number(b) !== null) return stretch(a, number(b)!)
  if (operator === 'mul' && b instanceof Span && number(a) !== null) return stretch(b, number(a)!)
  const [x, y] = [number(a), number(b)]
  if (x === null || y === null) return null
  const results: Record<string, number> = {
    add: x + y,
    sub: x - y,
    mul: x * y,
    div: x / y,
    mod: x % y,
  }
  return finite(results[operator]!)
}

function stretch(span: Span, factor: number): Span {
  const months = span.months * factor
  const whole = Math.trunc(months)
  return new Span(whole, span.ms * factor + (months - whole) * 30 * 86_400_000)
}
