/** Truncates times to multiples of `sizeMs` counted from `originMs`; NaN stays NaN. */
export function truncateTimes(
  times: Float64Array,
  sizeMs: number,
  originMs: number,
  count: number,
  out: Float64Array,
): void {
  for (let i = 0; i < count; i++) {
    out[i] = Math.floor((times[i]! - originMs) / sizeMs) * sizeMs + originMs
  }
}
