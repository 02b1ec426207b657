import { checkCancelled } from '../thread/cancelled.ts'

/**
 * The array, or a copy whose new elements are `fill`, as long as the next power of 2. Throws QUERY_CANCELLED: a copy of
 * some millions takes milliseconds, and several arrays grow at once.
 */
export function grown<T extends Float64Array | Int32Array | Uint8Array>(
  array: T,
  length: number,
  fill: number,
): T {
  if (length <= array.length) return array
  checkCancelled()
  const larger = new (array.constructor as new (length: number) => T)(
    2 ** Math.ceil(Math.log2(length)),
  )
  if (fill !== 0) larger.fill(fill)
  larger.set(array)
  return larger
}
