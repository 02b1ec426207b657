import { interpolated, percentileOfParts } from '../../function/percentile.ts'
import type { TalliedNumbers } from './number-tally.ts'

/** Numbers beside counted ones up to which they are sorted. */
const mostSorted = 1 << 14

/** The percentile of all numbers of the parts, and of those that are counted; null of none. */
export function percentileOfAll(
  parts: readonly Float64Array[],
  tallies: readonly TalliedNumbers[],
  share: number,
): number | null {
  if (tallies.length === 0) return percentileOfParts(parts, share)
  const others = parts.reduce((sum, { length }) => sum + length, 0)
  const tally = added(tallies)
  if (!tally || others > mostSorted) {
    return percentileOfParts([...parts, ...tallies.map(numbersOf)], share)
  }
  const sorted = new Float64Array(others)
  let at = 0
  for (const part of parts) {
    sorted.set(part, at)
    at += part.length
  }
  sorted.sort()
  const count = others + countOf(tally)
  if (count === 0) return null
  const rank = share * (count - 1)
  const lower = Math.floor(rank)
  const below = numberAt(tally, sorted, lower)
  const fraction = rank - lower
  return fraction === 0 ? below : interpolated(below, numberAt(tally, sorted, lower + 1), fraction)
}

function countOf({ counts }: TalliedNumbers): number {
  let count = 0
  for (let i = 0; i < counts.length; i++) count += counts[i]!
  return count
}

/** Places of one table for all. */
const mostPlaces = 1 << 22

/** One for all; undefined if they do not count the same kind of numbers, or lie too far apart. */
function added(tallies: readonly TalliedNumbers[]): TalliedNumbers | undefined {
  const [first, ...others] = tallies
  if (!first || others.length === 0) return first
  const { divisor } = first.range
  if (others.some(({ range }) => range.divisor !== divisor)) return undefined
  const base = Math.min(...tallies.map(({ range }) => range.base))
  const end = Math.max(...tallies.map(({ range }) => range.base + range.size))
  if (end - base > mostPlaces) return undefined
  const counts = new Int32Array(end - base)
  for (const { range, counts: some } of tallies) {
    const from = range.base - base
    for (let i = 0; i < some.length; i++) counts[from + i]! += some[i]!
  }
  return { range: { base, divisor, size: end - base }, counts }
}

/** The number of that rank, in ascending order, of the counted ones and others, which are sorted. */
function numberAt({ range, counts }: TalliedNumbers, others: Float64Array, rank: number): number {
  const { base, divisor } = range
  let seen = 0
  let next = 0
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i]!
    if (count === 0) continue
    const value = (base + i) / divisor
    for (; next < others.length && others[next]! < value; next++) {
      if (seen++ === rank) return others[next]!
    }
    seen += count
    if (seen > rank) return value
  }
  return others[next + rank - seen]!
}

/** Each as often as it occurs. */
function numbersOf(tally: TalliedNumbers): Float64Array {
  const { range, counts } = tally
  const numbers = new Float64Array(countOf(tally))
  let at = 0
  for (let i = 0; i < counts.length; i++) {
    numbers.fill((range.base + i) / range.divisor, at, at + counts[i]!)
    at += counts[i]!
  }
  return numbers
}
