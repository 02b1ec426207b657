/** Parts of longer times: `first week of November`, `second half of last month`, `late October`. */
import { takeCount } from './amount.ts'
import { type Clock, dayMs, type Stretch } from './clock.ts'
import type { PhraseReader } from './phrase.ts'

const places: Readonly<Record<string, number>> = {
  first: 0,
  '1st': 0,
  second: 1,
  '2nd': 1,
  third: 2,
  '3rd': 2,
  fourth: 3,
  '4th': 3,
}

const thirds: Readonly<Record<string, number>> = { early: 0, mid: 1, middle: 1, late: 2 }

/** @param takePeriod reads the month, quarter or year that it is a part of */
export function takePartOfPeriod(
  reader: PhraseReader,
  clock: Clock,
  takePeriod: () => Stretch | undefined,
): Stretch | undefined {
  reader.take('the')
  const third = reader.takeIf((word) => (Object.hasOwn(thirds, word) ? thirds[word] : undefined))
  if (third !== undefined) {
    reader.take('of', 'in')
    return thirdOf(takePeriod(), third, clock)
  }
  const isEnd = reader.take('end') !== undefined
  const isLast = isEnd || reader.take('last', 'final') !== undefined
  const place = isLast
    ? -1
    : reader.takeIf((word) => (Object.hasOwn(places, word) ? places[word] : undefined))
  if (place === undefined) return undefined
  // "first 3 days of November", "last 2 weeks of October".
  const count = isEnd ? undefined : takeCount(reader)
  const many = count === undefined ? undefined : reader.take('days', 'day', 'weeks', 'week')
  if (many && place <= 0 && reader.take('of', 'in')) {
    const length = count! * (many.startsWith('day') ? 1 : 7) * dayMs
    return edgeOf(takePeriod(), length, isLast, clock)
  }
  const unit = reader.take('week', 'half') ?? (isEnd ? 'week' : undefined)
  if (!unit || !reader.take('of', 'in')) return undefined
  const period = takePeriod()
  if (!period) return undefined
  return unit === 'half' ? halfOf(period, place, clock) : weekOf(period, place, clock)
}

function thirdOf(period: Stretch | undefined, third: number, clock: Clock): Stretch | undefined {
  if (!period) return undefined
  const to = third === 2 ? period.to : clock.partDay(period, (third + 1) / 3)
  return told(clock, period, clock.partDay(period, third / 3), to)
}

/** The first or the last milliseconds of a period that is as long, or longer. */
function edgeOf(
  period: Stretch | undefined,
  length: number,
  isLast: boolean,
  clock: Clock,
): Stretch | undefined {
  if (!period || length === 0 || length > period.to - period.from) return undefined
  const from = isLast ? period.to - length : period.from
  return told(clock, period, from, from + length)
}

function halfOf(period: Stretch, place: number, clock: Clock): Stretch | undefined {
  if (place > 1) return undefined
  const middle = clock.partDay(period, 1 / 2)
  return place === 0
    ? told(clock, period, period.from, middle)
    : told(clock, period, middle, period.to)
}

/** @param place from 0; less: the last one */
function weekOf(period: Stretch, place: number, clock: Clock): Stretch | undefined {
  const { from, to } = period
  const weekMs = 7 * dayMs
  const begin = place < 0 ? to - weekMs : from + place * weekMs
  return begin < from || begin >= to
    ? undefined
    : told(clock, period, begin, Math.min(begin + weekMs, to))
}

function told(clock: Clock, period: Stretch, from: number, to: number): Stretch {
  return { from, to, told: `${clock.span({ from, to })}, a part of ${period.told}` }
}
