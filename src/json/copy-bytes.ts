/** Up to this many bytes a loop is faster than the view that `set` needs. */
const nearBytes = 32

/** Copies a range to `at` in `target` and returns where it ends there. */
export function copyBytes(
  source: Buffer,
  start: number,
  end: number,
  target: Buffer,
  at: number,
): number {
  const length = end - start
  if (length > nearBytes) target.set(source.subarray(start, end), at)
  else for (let i = 0; i < length; i++) target[at + i] = source[start + i]!
  return at + length
}
