/** Times as people say them: when records were made. */
import { printString } from '../parser/print.ts'
import { takeCount } from './amount.ts'
import { type CalendarUnit, Clock, dayMs, minuteMs, type Stretch } from './clock.ts'
import { takePartOfPeriod } from './period-part.ts'
import type { Context, Meaning, PhraseReader, Recognized } from './phrase.ts'

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
  // "last 2 weeks of October" ended with October.
  if (!length || reader.plain() === 'of') return undefined
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
  const between =
    reader.attempt(() => takeBetween(reader, clock)) ??
    reader.attempt(() => takeSomeOfDay(reader, clock))
  if (between) return within(between)

  const side = reader.take(
    ...['since', 'starting', 'after', 'from', 'before', 'until', 'till', 'up to', 'prior to'],
    ...['during', 'on', 'in', 'at', 'of', 'for', 'over'],
  )
  const point =
    side === 'since' || side === 'after' || side === 'before' ? takeAgo(reader, clock) : undefined
  const stretch = point ?? takeStretch(reader, clock, side !== undefined)
  if (!stretch) return undefined
  switch (side) {
    case 'since':
    case 'starting':
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
    case 'from':
      return stretch.isPart ? within(stretch) : since(stretch.from, `since ${stretch.told}`)
    default:
      return within(stretch)
  }
}

/** `from Nov 3 to Nov 7`, `Monday to Wednesday`, `between 2pm and 4pm yesterday`. */
function takeBetween(reader: PhraseReader, clock: Clock): Stretch | undefined {
  const opening = reader.take('between', 'from')
  const first = opening ? takeStretch(reader, clock, true) : takeDay(reader, clock, true)
  const joint =
    first &&
    reader.take('to', '-', '–', '—', 'until', 'till', 'through', ...(opening ? ['and'] : []))
  const second = joint && takeStretch(reader, clock, true)
  if (!first || !second) return undefined
  const areTimes = first.isMoment === true && second.isMoment === true
  const day = areTimes ? reader.attempt(() => takeDayAfter(reader, clock)) : undefined
  const shift = day ? day.from - clock.day(clock.now).from : 0
  const from = first.from + shift
  const to = (areTimes ? second.from : second.to) + shift
  const told = day
    ? `${day.told} from ${timeTold(first)} to ${timeTold(second)}`
    : `from ${first.told} to ${second.told}`
  return from < to ? { from, to, told } : undefined
}

const sides: Readonly<Record<string, 'from' | 'to'>> = {
  after: 'from',
  since: 'from',
  from: 'from',
  before: 'to',
  until: 'to',
  till: 'to',
}

/** `yesterday after 3pm`, `before noon on Monday`, `on Monday between 9am and noon`: some of a day. */
function takeSomeOfDay(reader: PhraseReader, clock: Clock): Stretch | undefined {
  reader.take('on')
  const before = reader.attempt(() => takeDay(reader, clock, true))
  const range = before && reader.attempt(() => takeTimes(reader))
  if (before && range) {
    const [from, to] = range
    const told = `${before.told} from ${toldTime(from)} to ${toldTime(to)}`
    return { from: before.from + from * minuteMs, to: before.from + to * minuteMs, told }
  }
  const side = reader.takeIf((word) => (Object.hasOwn(sides, word) ? sides[word] : undefined))
  const minutes = side && reader.takeIf(timeOfDay)
  if (minutes === undefined) return undefined
  const day = before ?? takeDayAfter(reader, clock)
  if (!day) return undefined
  const at = day.from + minutes * minuteMs
  const told = `${day.told} ${side === 'from' ? 'after' : 'before'} ${toldTime(minutes)}`
  return side === 'from' ? { from: at, to: day.to, told } : { from: day.from, to: at, told }
}

/** `between 9am and noon`, in minutes since midnight. */
function takeTimes(reader: PhraseReader): readonly [from: number, to: number] | undefined {
  if (!reader.take('between', 'from')) return undefined
  const from = reader.takeIf(timeOfDay)
  const joint = from === undefined ? undefined : reader.take('and', 'to', 'until', 'till', '-', '–')
  const to = joint === undefined ? undefined : reader.takeIf(timeOfDay)
  return from !== undefined && to !== undefined && from < to ? [from, to] : undefined
}

function takeDayAfter(reader: PhraseReader, clock: Clock): Stretch | undefined {
  reader.take('on', 'of')
  return takeDay(reader, clock, true)
}

function timeTold({ told }: Stretch): string {
  return told.replace(/^today at /, '')
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
  const part =
    reader.attempt(() =>
      takePartOfPeriod(reader, clock, () => reader.attempt(() => takePeriod(reader, clock, true))),
    ) ?? reader.attempt(() => takePart(reader, clock))
  if (part) return part
  const day = reader.attempt(() => takeDay(reader, clock, isAsked))
  if (day) {
    const part = reader.takeIf(dayPartOf)
    if (part) {
      const [first, end] = dayParts[part]!
      const [from, to] = [day.from + first * 60 * minuteMs, day.from + end * 60 * minuteMs]
      return { from, to, told: `${day.told}, in the ${part}`, isPart: true }
    }
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

/** Hours that a part of the day goes from and to. */
const dayParts: Readonly<Record<string, readonly [from: number, to: number]>> = {
  morning: [0, 12],
  afternoon: [12, 18],
  evening: [18, 24],
  night: [18, 30],
}

/** `this morning`, `yesterday evening`, `last night`, `over the weekend`, `Q3 2026`, `start of the month`. */
function takePart(reader: PhraseReader, clock: Clock): Stretch | undefined {
  const day = reader.take('yesterday', 'this', 'last', 'tonight', 'today')
  const named = day === 'tonight' ? 'evening' : reader.takeIf((word) => dayPartOf(word))
  if (day && named && (day !== 'last' || named === 'night')) {
    const isBefore = day === 'yesterday' || day === 'last'
    const { from } = clock.day(clock.now - (isBefore ? dayMs : 0))
    const [first, end] = dayParts[named]!
    const told = day === 'tonight' ? day : `${day} ${named}`
    const [begin, after] = [from + first * 60 * minuteMs, from + end * 60 * minuteMs]
    return { from: begin, to: after, told, isPart: true }
  }
  if (named) return undefined
  if (day !== 'yesterday' && day !== 'today') {
    if (day === undefined) reader.take('the')
    if (reader.take('weekend', 'past weekend')) return clock.weekend()
  }
  if (day) return undefined
  const quarter = reader.takeIf((word) => /^q([1-4])$/.exec(word)?.[1])
  if (quarter) return clock.quarter(Number(quarter), takeYear(reader))
  reader.take('the')
  if (!reader.take('beginning of', 'start of')) return undefined
  const which = reader.take('this', 'the', 'last')
  const unit = which && reader.takeIf(unitOf)
  const period = which ? undefined : takePeriod(reader, clock, true)
  if (period) {
    return { from: period.from, to: period.from + dayMs, told: `the start of ${period.told}` }
  }
  if (!unit) return undefined
  const { from } = clock.unit(unit, which === 'last' ? -1 : 0)
  return { from, to: from + dayMs, told: `the start of ${which} ${unit} (${clock.date(from)})` }
}

function dayPartOf(word: string): string | undefined {
  return Object.hasOwn(dayParts, word) ? word : undefined
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
