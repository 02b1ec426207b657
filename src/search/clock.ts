/** Days, weeks and months where a person is. */
import type { Context } from './phrase.ts'

export const minuteMs = 60_000
export const dayMs = 86_400_000

export type CalendarUnit = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'

/** From its first instant to the one after its last, in ms since 1970 of UTC. */
export interface Stretch {
  readonly from: number
  readonly to: number
  /** Goes after `since`. */
  readonly told: string
  /** A moment rather than a day: `after` it begins at once. */
  readonly isMoment?: boolean
  /** A part of a day or a week: what is from it is not what came after it. */
  readonly isPart?: boolean
}

/** The calendar where the caller is: days begin at their midnight. */
export class Clock {
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

  /** The latest Saturday and Sunday of which some is over. */
  weekend(): Stretch {
    const { from: monday } = this.unit('week', 0)
    const saturday = this.now > monday + 5 * dayMs ? monday + 5 * dayMs : monday - 2 * dayMs
    const stretch = { from: saturday, to: saturday + 2 * dayMs }
    return { ...stretch, told: `the weekend (${this.span(stretch)})`, isPart: true }
  }

  /** Of a year, or the latest one that has begun. */
  quarter(number: number, given: number | undefined): Stretch {
    const month = (number - 1) * 3
    const year = given ?? this.yearOf(month, 1)
    const told = `Q${number} ${year}`
    return { from: this.at(year, month, 1), to: this.at(year, month + 3, 1), told }
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

  /** The day that begins after a share of a stretch, from 0 to 1; of quarters and years, the month. */
  partDay({ from, to }: Pick<Stretch, 'from' | 'to'>, share: number): number {
    const days = Math.round((to - from) / dayMs)
    const months = Math.round(days / 30.4)
    if (months > 1) {
      const first = this.#local(from)
      const month = first.getUTCMonth() + Math.floor(months * share)
      return this.at(first.getUTCFullYear(), month, 1)
    }
    return from + Math.floor(days * share) * dayMs
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
