/**
 * The number at rank `share × (n − 1)` of the sorted numbers, interpolated linearly between its
 * neighbours; null of no numbers. Sorts `numbers` in place.
 */
export function percentileOf(numbers: Float64Array, share: number): number | null {
  if (numbers.length === 0) return null
  numbers.sort()
  const rank = share * (numbers.length - 1)
  const below = numbers[Math.floor(rank)]!
  const above = numbers[Math.ceil(rank)]!
  const fraction = rank - Math.floor(rank)
  const value = below + (above - below) * fraction
  // The distance of two numbers may exceed what a double holds although what lies between does not.
  return Number.isFinite(value) ? value : below * (1 - fraction) + above * fraction
}
