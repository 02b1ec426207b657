/** Three-valued logic on bytes: 0 false, 1 true, 2 unknown. */
import {
  applyUnary,
  beginKernel,
  inChunks,
  kernels,
  maximumRows,
  place,
  takeOutput,
} from './arena.ts'

/** `left[i] = left[i] and right[i]`: false wins over unknown, unknown over true. */
export function andInto(left: Uint8Array, right: Uint8Array, count: number): void {
  combineInto(left, right, count, kernels.andInto)
}

/** `left[i] = left[i] or right[i]`: true wins over unknown, unknown over false. */
export function orInto(left: Uint8Array, right: Uint8Array, count: number): void {
  combineInto(left, right, count, kernels.orInto)
}

function combineInto(
  left: Uint8Array,
  right: Uint8Array,
  count: number,
  kernel: (left: number, right: number, count: number) => void,
): void {
  if (count > maximumRows) {
    inChunks(count, (from, to) => {
      combineInto(left.subarray(from, to), right.subarray(from, to), to - from, kernel)
    })
    return
  }
  beginKernel()
  const at = place(left, count)
  kernel(at, place(right, count), count)
  takeOutput(left, count, at)
}

/** `out[i] = not values[i]` */
export function notOf(values: Uint8Array, count: number, out: Uint8Array): void {
  applyUnary(values, count, out, kernels.notOf)
}
