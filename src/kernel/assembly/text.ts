/** Searches bytes. */

/**
 * Where the needle is first from `from` on, or -1. Bytes are taken with the bits of `folds` set: 0x20 where
 * the needle has a lower-case letter that stands for both cases, else 0.
 *
 * @param first, second places in the needle whose bytes are compared for 16 places of the haystack at
 *   once, the rare ones best; 16 bytes after the haystack must be readable
 */
export function findBytes(
  haystack: usize,
  from: i32,
  end: i32,
  needle: usize,
  folds: usize,
  length: i32,
  first: i32,
  second: i32,
): i32 {
  const firstByte = i8x16.splat(load<i8>(needle + <usize>first))
  const firstFold = i8x16.splat(load<i8>(folds + <usize>first))
  const secondByte = i8x16.splat(load<i8>(needle + <usize>second))
  const secondFold = i8x16.splat(load<i8>(folds + <usize>second))
  const last = end - length
  for (let at = from; at <= last; at += 16) {
    const place = haystack + <usize>at
    const a = v128.or(v128.load(place + <usize>first), firstFold)
    const b = v128.or(v128.load(place + <usize>second), secondFold)
    let hits = i8x16.bitmask(v128.and(i8x16.eq(a, firstByte), i8x16.eq(b, secondByte)))
    while (hits !== 0) {
      const hit = at + ctz(hits)
      if (hit > last) return -1
      if (isAt(haystack + <usize>hit, needle, folds, length)) return hit
      hits &= hits - 1
    }
  }
  return -1
}

function isAt(place: usize, needle: usize, folds: usize, length: i32): bool {
  for (let i: usize = 0; i < <usize>length; i++) {
    if ((load<u8>(place + i) | load<u8>(folds + i)) !== load<u8>(needle + i)) return false
  }
  return true
}
