import {
  beginKernel,
  inChunks,
  kernels,
  maximumRows,
  numbers,
  place,
  placeOutput,
  stateStart,
  takeOutput,
} from './arena.ts'

/** Truncates times to multiples of `sizeMs` counted from `originMs`; NaN stays NaN. */
export function truncateTimes(
  times: Float64Array,
  sizeMs: number,
  originMs: number,
  count: number,
  out: Float64Array,
): void {
  if (count > maximumRows) {
    inChunks(count, (from, to) => {
      const part = times.subarray(from, to)
      truncateTimes(part, sizeMs, originMs, to - from, out.subarray(from, to))
    })
    return
  }
  beginKernel()
  const at = placeOutput(out, count)
  kernels.truncateTimes(place(times, count), sizeMs, originMs, count, at)
  takeOutput(out, count, at)
}

export interface TimeSpan {
  readonly low: number
  readonly high: number
}

/** The least and the greatest time; undefined if one is null, or they are many or none. */
export function spanOf(times: Float64Array, count: number): TimeSpan | undefined {
  if (count === 0 || count > maximumRows) return undefined
  beginKernel()
  const even = count & ~1
  if (kernels.spanOf(place(times, count), even, stateStart) === 0) return undefined
  const last = times[count - 1]!
  if (Number.isNaN(last)) return undefined
  const [low, high] = [numbers[stateStart >> 3]!, numbers[(stateStart >> 3) + 1]!]
  return { low: Math.min(low, last), high: Math.max(high, last) }
}
