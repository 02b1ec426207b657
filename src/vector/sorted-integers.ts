/** Integers in ascending order. */

/** How many of them, from a place on, are below a bound. */
export function countBelow(
  integers: Uint16Array | Int32Array | Uint32Array,
  bound: number,
  from = 0,
): number {
  let low = from
  let high = integers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (integers[middle]! < bound) low = middle + 1
    else high = middle
  }
  return low - from
}
