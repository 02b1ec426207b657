import { moveRank } from '../kernel/rank.ts'

/**
 * The number at rank `share × (n − 1)` in ascending order, interpolated linearly between its
 * neighbours; null of no numbers. Changes the order of `numbers`, but sorts no more than it must:
 * about 10 ns per number, where sorting takes 100.
 */
export function percentileOf(numbers: Float64Array, share: number): number | null {
  if (numbers.length === 0) return null
  const rank = share * (numbers.length - 1)
  const lower = Math.floor(rank)
  moveRank(numbers, lower)
  const below = numbers[lower]!
  const fraction = rank - lower
  if (fraction === 0) return below
  const above = minimum(numbers, lower + 1)
  const value = below + (above - below) * fraction
  // The distance of two numbers may exceed what a double holds although what lies between does not.
  return Number.isFinite(value) ? value : below * (1 - fraction) + above * fraction
}

function minimum(numbers: Float64Array, from: number): number {
  let least = numbers[from]!
  for (let i = from + 1; i < numbers.length; i++) if (numbers[i]! < least) least = numbers[i]!
  return least
}
