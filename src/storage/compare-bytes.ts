/** Orders two ranges of bytes as `Buffer.compare` would, without making views of them. */
export function compareBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const count = Math.min(aEnd - aStart, bEnd - bStart)
  for (let i = 0; i < count; i++) {
    const difference = a[aStart + i]! - b[bStart + i]!
    if (difference !== 0) return difference
  }
  return aEnd - aStart - (bEnd - bStart)
}
