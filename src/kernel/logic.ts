/** Three-valued logic on bytes: 0 false, 1 true, 2 unknown. */
import {
  beginLoop,
  inParts,
  kernels,
  maximumRows,
  place,
  placeOutput,
  takeOutput,
} from './memory.ts'

/** `left[i] = left[i] and right[i]`: false wins over unknown, unknown over true. */
export function andInto(left: Uint8Array, right: Uint8Array, count: number): void {
  if (count > maximumRows) {
    inParts(count, (from, to) =>
      andInto(left.subarray(from, to), right.subarray(from, to), to - from),
    )
    return
  }
  beginLoop()
  const at = place(left, count)
  kernels.andInto(at, place(right, count), count)
  takeOutput(left, count, at)
}

/** `left[i] = left[i] or right[i]`: true wins over unknown, unknown over false. */
export function orInto(left: Uint8Array, right: Uint8Array, count: number): void {
  if (count > maximumRows) {
    inParts(count, (from, to) =>
      orInto(left.subarray(from, to), right.subarray(from, to), to - from),
    )
    return
  }
  beginLoop()
  const at = place(left, count)
  kernels.orInto(at, place(right, count), count)
  takeOutput(left, count, at)
}

/** `out[i] = not values[i]` */
export function notOf(values: Uint8Array, count: number, out: Uint8Array): void {
  if (count > maximumRows) {
    inParts(count, (from, to) =>
      notOf(values.subarray(from, to), to - from, out.subarray(from, to)),
    )
    return
  }
  beginLoop()
  const at = placeOutput(out, count)
  kernels.notOf(place(values, count), count, at)
  takeOutput(out, count, at)
}
