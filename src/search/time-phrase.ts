/** Times as people say them: when records were made. */
import { printString } from '../parser/print.ts'
import { takeCount } from './amount.ts'
import type { Context, Meaning, PhraseReader, Recognized } from './phrase.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

type CalendarUnit = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'

const units: Readonly<Record<string, CalendarUnit>> = {
  minute: 'minute',
  minutes: 'minute',
  min: 'minute',
  mins: 'minute',
  hour: 'hour',
  hours: 'hour',
  hr: 'hour',
  hrs: 'hour',
  h: 'hour',
  day: 'day',
  days: 'day',
  d: 'day',
  week: 'week',
  weeks: 'week',
  month: 'month',
  months: 'month',
  quarter: 'quarter',
  quarters: 'quarter',
  year: 'year',
  years: 'year',
}

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

const months =
  'january february march april may june july august september october november december'.split(' ')

/** From its first instant to the one after its last, in ms since 1970 of UTC. */
interface Stretch {
  readonly from: number
  readonly to: number
  /** Goes after `since`. */
  readonly told: string
  /** A moment rather than a day: `after` it begins at once. */
  readonly isMoment?: boolean
}

/** Recognizes when: `last 7 days`, `yesterday`, `since Monday`, `in October`, `before 2026-03-01`. */
export function recognizeTime(reader: PhraseReader, context: Context): Recognized | undefined {
  const clock = new Clock(context)
  const condition =
    reader.attempt(() => rolling(reader)) ?? reader.attempt(() => bounded(reader, clock))
  return condition && reader.means(condition)
}

/** A length of time that ends now; it stays so when the query is asked again later. */
function rolling(reader: PhraseReader): Meaning | undefined {
  const older = reader.attempt(() => {
    const side = reader.take('older than', 'more than', 'newer than', 'less than')
    const length = side && takeLength(reader)
    if (!side || !length) return undefined
    const needsAgo = side === 'more than' || side === 'less than'
    if (needsAgo ? !reader.take('ago', 'old') : false) return undefined
    return { isBefore: side === 'older than' || side === 'more than', length }
  })
  if (older) {
    const { isBefore, length } = older
    return {
      kind: 'condition',
      text: `created ${isBefore ? '<' : '>'} now() - ${intervalOf(length)}`,
      told: `made ${isBefore ? 'more' : 'less'} than ${toldLength(length)} ago`,
    }
  }
  reader.take('in', 'during', 'within', 'over', 'for', 'from')
  const hasArticle = reader.take('the') !== undefined
  const kind = reader.take('last', 'past', 'previous', 'recent')
  if (!kind) return undefined
  const length = takeLength(reader) ?? takeUnitAlone(reader)
  if (!length) return undefined
  // "last week" is the week before this one, and "in the last week" are seven days.
  const isCalendar = !length.isCounted && !hasArticle && kind !== 'past' && kind !== 'recent'
  if (isCalendar && length.unit !== 'hour' && length.unit !== 'minute') return undefined
  return {
    kind: 'condition',
    text: `created > now() - ${intervalOf(length)}`,
    told: `made in the last ${toldLength(length)}`,
  }
}

interface Length {
  readonly count: number
  readonly unit: CalendarUnit
  readonly isCounted: boolean
}

/** `7 days`, `24h`, `a week`, `couple of days`. */
function takeLength(reader: PhraseReader): Length | undefined {
  return reader.attempt(() => {
    const joined = reader.takeIf((word) => {
      const found = /^(\d+)(d|h|hr|hrs|min|mins|w|mo|y)$/.exec(word)
      if (!found) return undefined
      const unit = { w: 'week', mo: 'month', y: 'year' }[found[2]!] ?? units[found[2]!]
      return { count: Number(found[1]), unit: unit as CalendarUnit, isCounted: true }
    })
    if (joined) return joined
    const isCouple = reader.take('couple of', 'a couple of') !== undefined
    const isArticle = !isCouple && reader.take('a', 'an', 'one') !== undefined
    const count = isCouple ? 2 : isArticle ? 1 : takeCount(reader)
    const unit = count === undefined ? undefined : reader.takeIf(unitOf)
    return count === undefined || !unit ? undefined : { count, unit, isCounted: true }
  })
}

function takeUnitAlone(reader: PhraseReader): Length | undefined {
  const unit = reader.takeIf(unitOf)
  return unit && { count: 1, unit, isCounted: false }
}

function unitOf(word: string): CalendarUnit | undefined {
  return Object.hasOwn(units, word) ? units[word] : undefined
}

function intervalOf({ count, unit }: Length): string {
  return unit === 'quarter' ? `interval ${count * 3} month` : `interval ${count} ${unit}`
}

function toldLength({ count, unit }: Length): string {
  return count === 1 ? unit : `${count} ${unit}s`
}

/** Between points of the calendar. */
function bounded(reader: PhraseReader, clock: Clock): Meaning | undefined {
  const between = reader.attempt(() => {
    const opening = reader.take('between', 'from')
    const first = opening && takeStretch(reader, clock, true)
    const joint = first && reader.take('and', 'to', 'until', 'till', 'through')
    const second = joint && takeStretch(reader, clock, true)
    return (
      first &&
      second && { from: first.from, to: second.to, told: `from ${first.told} to ${second.told}` }
    )
  })
  if (between && between.from < between.to) return within(between)

  const side = reader.take(
    ...['since', 'starting', 'after', 'from', 'before', 'until', 'till', 'up to', 'prior to'],
    ...['during', 'on', 'in', 'at', 'of', 'for'],
  )
  const point =
    side === 'since' || side === 'after' || side === 'before' ? takeAgo(reader, clock) : undefined
  const stretch = point ?? takeStretch(reader, clock, side !== undefined)
  if (!stretch) return undefined
  switch (side) {
    case 'since':
    case 'starting':
    case 'from':
      return since(stretch.from, `since ${stretch.told}`)
    case 'after':
      return since(stretch.isMoment ? stretch.from : stretch.to, `after ${stretch.told}`)
    case 'before':
    case 'prior to':
      return before(stretch.from, `before ${stretch.told}`)
    case 'until':
    case 'till':
    case 'up to':
      return before(stretch.to, `until ${stretch.told}`)
    default:
      return within(stretch)
  }
}

function since(from: number, told: string): Meaning {
  return { kind: 'condition', text: `created >= ${instant(from)}`, told: `made ${told}` }
}

function before(to: number, told: string): Meaning {
  return { kind: 'condition', text: `created < ${instant(to)}`, told: `made ${told}` }
}

function within({ from, to, told }: Stretch): Meaning {
  return {
    kind: 'condition',
    text: `created >= ${instant(from)} and created < ${instant(to)}`,
    negated: `(created < ${instant(from)} or created >= ${instant(to)})`,
    told: `made ${told}`,
  }
}

function instant(ms: number): string {
  return printString(new Date(ms).toISOString().replace('.000Z', 'Z'))
}

/** `3 days ago`: a day as a whole if it is counted in days or more, otherwise an instant. */
function takeAgo(reader: PhraseReader, clock: Clock): Stretch | undefined {
  return reader.attempt(() => {
    const length = takeLength(reader)
    if (!length || !reader.take('ago')) return undefined
    const told = `${length.count === 1 ? 'a ' : ''}${toldLength(length)} ago`
    if (length.unit === 'minute' || length.unit === 'hour') {
      const from = clock.now - length.count * (length.unit === 'hour' ? 60 : 1) * minuteMs
      return { from, to: from, told, isMoment: true }
    }
    return { ...clock.day(clock.shifted(length.unit, -length.count)), told }
  })
}

/** @param isAsked whether a word before says that a time follows, so that `may` is a month */
function takeStretch(reader: PhraseReader, clock: Clock, isAsked: boolean): Stretch | undefined {
  const day = reader.attempt(() => takeDay(reader, clock, isAsked))
  if (day) {
    const time = reader.attempt(() => {
      reader.take('at')
      return reader.takeIf(timeOfDay)
    })
    if (time === undefined) return day
    return { ...clock.minute(day.from + time * minuteMs), told: `${day.told} at ${toldTime(time)}` }
  }
  if (isAsked) {
    const time = reader.takeIf(timeOfDay)
    if (time !== undefined) {
      return {
        ...clock.minute(clock.day(clock.now).from + time * minuteMs),
        told: `today at ${toldTime(time)}`,
      }
    }
  }
  return reader.attempt(() => takePeriod(reader, clock, isAsked))
}

function takeDay(reader: PhraseReader, clock: Clock, isAsked: boolean): Stretch | undefined {
  const named = reader.take(
    'the day before yesterday',
    'day before yesterday',
    'yesterday',
    'today',
  )
  if (named) {
    const back = named === 'today' ? 0 : named === 'yesterday' ? 1 : 2
    return { ...clock.day(clock.now - back * dayMs), told: named.replace(/^the /, '') }
  }
  const ago = takeAgo(reader, clock)
  if (ago) return ago.from === ago.to ? undefined : ago
  const weekday = reader.attempt(() => {
    reader.take('last', 'this', 'past')
    return reader.takeIf((word) => indexOf(weekdays, word.replace(/s$/, ''), isAsked))
  })
  if (weekday !== undefined) {
    const back = (clock.weekday() - weekday + 7) % 7 || 7
    const isToday = clock.weekday() === weekday
    const day = clock.day(clock.now - (isToday ? 0 : back) * dayMs)
    return { ...day, told: `${capitalized(weekdays[weekday]!)} (${clock.date(day.from)})` }
  }
  const iso = reader.takeIf((word) => /^(\d{4})-(\d\d?)-(\d\d?)$/.exec(word) ?? undefined)
  if (iso) return clock.dateOf(Number(iso[1]), Number(iso[2]) - 1, Number(iso[3]))
  const exact =
    reader.peek()?.kind === 'text' ? /^\d{4}-\d\d-\d\dT\d\d:\d\d/i.test(reader.peek()!.text) : false
  if (exact) {
    const at = Date.parse(reader.peek()!.text)
    if (!Number.isNaN(at)) {
      reader.at++
      return { from: at, to: at, isMoment: true, told: new Date(at).toISOString() }
    }
  }
  return takeMonthDay(reader, clock)
}

/** `March 3`, `3 March`, `3rd of March 2026`. */
function takeMonthDay(reader: PhraseReader, clock: Clock): Stretch | undefined {
  return reader.attempt(() => {
    const dayFirst = reader.takeIf(dayOfMonth)
    if (dayFirst !== undefined) reader.take('of')
    const month = reader.takeIf((word) => indexOf(months, word, true))
    const day = dayFirst ?? (month === undefined ? undefined : reader.takeIf(dayOfMonth))
    if (month === undefined || day === undefined) return undefined
    const year = takeYear(reader) ?? clock.yearOf(month, day)
    return clock.dateOf(year, month, day)
  })
}

function takePeriod(reader: PhraseReader, clock: Clock, isAsked: boolean): Stretch | undefined {
  const period = reader.attempt(() => {
    reader.take('the')
    const which = reader.take('this', 'current', 'last', 'previous')
    const unit = which && reader.takeIf(unitOf)
    return which && unit && { isLast: which === 'last' || which === 'previous', unit }
  })
  if (period) {
    const { isLast, unit } = period
    const stretch = clock.unit(unit, isLast ? -1 : 0)
    return { ...stretch, told: `${isLast ? 'last' : 'this'} ${unit} (${clock.span(stretch)})` }
  }
  const month = reader.takeIf((word) => indexOf(months, word, isAsked))
  if (month !== undefined) {
    // The name of a person or a verb, unless a word before or a year after says otherwise.
    const given = takeYear(reader)
    if (given === undefined && !isAsked && (month === 4 || month === 2)) return undefined
    const year = given ?? clock.yearOf(month, 1)
    const from = clock.at(year, month, 1)
    return {
      from,
      to: clock.at(year, month + 1, 1),
      told: `${capitalized(months[month]!)} ${year}`,
    }
  }
  const year = isAsked ? takeYear(reader) : undefined
  if (year === undefined) return undefined
  return { from: clock.at(year, 0, 1), to: clock.at(year + 1, 0, 1), told: String(year) }
}

function takeYear(reader: PhraseReader): number | undefined {
  return reader.takeIf((word) => (/^20\d\d$/.test(word) ? Number(word) : undefined))
}

function dayOfMonth(word: string): number | undefined {
  const found = /^(\d{1,2})(st|nd|rd|th)?$/.exec(word)
  const day = found ? Number(found[1]) : 0
  return day >= 1 && day <= 31 ? day : undefined
}

/** Minutes since midnight: `9am`, `14:30`, `noon`. */
function timeOfDay(word: string): number | undefined {
  if (word === 'noon') return 12 * 60
  if (word === 'midnight') return 0
  const found = /^(\d{1,2})(?::(\d\d))?(am|pm)?$/.exec(word)
  if (!found || (found[2] === undefined && found[3] === undefined)) return undefined
  const hour = Number(found[1])
  const minute = Number(found[2] ?? 0)
  if (minute > 59 || hour > (found[3] ? 12 : 23)) return undefined
  const shifted = found[3] ? (hour % 12) + (found[3] === 'pm' ? 12 : 0) : hour
  return shifted * 60 + minute
}

function toldTime(minutes: number): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/** @param mayBeShort whether the first three letters are enough */
function indexOf(names: readonly string[], word: string, mayBeShort: boolean): number | undefined {
  const index = names.findIndex((name) => {
    return (
      name === word || (mayBeShort && word.length >= 3 && word.length <= 4 && name.startsWith(word))
    )
  })
  return index < 0 ? undefined : index
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** The calendar where the caller is: days begin at their midnight. */
class Clock {
  readonly now: number
  readonly #shift: number

  constructor({ now, tzOffset }: Context) {
    this.now = now
    this.#shift = tzOffset * minuteMs
  }

  /** The first instant of a day there; days and months may be past the end of theirs. */
  at(year: number, month: number, day: number): number {
    return Date.UTC(year, month, day) + this.#shift
  }

  day(instantMs: number): Pick<Stretch, 'from' | 'to'> {
    const from = Math.floor((instantMs - this.#shift) / dayMs) * dayMs + this.#shift
    return { from, to: from + dayMs }
  }

  minute(from: number): Pick<Stretch, 'from' | 'to' | 'isMoment'> {
    return { from, to: from + minuteMs, isMoment: true }
  }

  weekday(): number {
    return this.#local(this.now).getUTCDay()
  }

  date(instantMs: number): string {
    return this.#local(instantMs).toISOString().slice(0, 10)
  }

  span({ from, to }: Pick<Stretch, 'from' | 'to'>): string {
    return to - from <= dayMs ? this.date(from) : `${this.date(from)} to ${this.date(to - 1)}`
  }

  /** Undefined for a day that the month does not have. */
  dateOf(year: number, month: number, day: number): Stretch | undefined {
    const from = this.at(year, month, day)
    if (this.#local(from).getUTCMonth() !== month) return undefined
    return { from, to: from + dayMs, told: this.date(from) }
  }

  /** The year that a day without one is in: the latest that is not in the future. */
  yearOf(month: number, day: number): number {
    const year = this.#local(this.now).getUTCFullYear()
    return this.at(year, month, day) > this.now ? year - 1 : year
  }

  shifted(unit: CalendarUnit, count: number): number {
    const local = this.#local(this.now)
    if (unit === 'week') local.setUTCDate(local.getUTCDate() + 7 * count)
    else if (unit === 'day') local.setUTCDate(local.getUTCDate() + count)
    else if (unit === 'year') local.setUTCFullYear(local.getUTCFullYear() + count)
    else local.setUTCMonth(local.getUTCMonth() + count * (unit === 'quarter' ? 3 : 1))
    return local.getTime() + this.#shift
  }

  /** The unit of the calendar that now is in, or one before it. Weeks begin on Monday. */
  unit(unit: CalendarUnit, shift: number): Pick<Stretch, 'from' | 'to'> {
    const local = this.#local(this.now)
    const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()]
    const fixed = { minute: minuteMs, hour: 60 * minuteMs, day: dayMs }
    switch (unit) {
      case 'minute':
      case 'hour':
      case 'day': {
        const length = fixed[unit]
        const from = (Math.floor(local.getTime() / length) + shift) * length + this.#shift
        return { from, to: from + length }
      }
      case 'week': {
        const monday = this.day(this.now).from - ((local.getUTCDay() + 6) % 7) * dayMs
        return { from: monday + shift * 7 * dayMs, to: monday + (shift + 1) * 7 * dayMs }
      }
      case 'month':
        return { from: this.at(year, month + shift, 1), to: this.at(year, month + shift + 1, 1) }
      case 'quarter': {
        const first = Math.floor(month / 3) * 3 + shift * 3
        return { from: this.at(year, first, 1), to: this.at(year, first + 3, 1) }
      }
      case 'year':
        return { from: this.at(year + shift, 0, 1), to: this.at(year + shift + 1, 0, 1) }
    }
  }

  #local(instantMs: number): Date {
    return new Date(instantMs - this.#shift)
  }
}
