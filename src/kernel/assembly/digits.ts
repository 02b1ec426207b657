/** Bytes as lower-case hexadecimal digits, two for each. Sixteen are read at once, and more may be written. */

/** The digits of numbers from 0 to 15. */
function asDigits(values: v128): v128 {
  const isLetter = i8x16.gt_u(values, i8x16.splat(9))
  const shift = v128.bitselect(i8x16.splat(0x61 - 10), i8x16.splat(0x30), isLetter)
  return i8x16.add(values, shift)
}

function upper(bytes: v128): v128 {
  return asDigits(i8x16.shr_u(bytes, 4))
}

function lower(bytes: v128): v128 {
  return asDigits(v128.and(bytes, i8x16.splat(0x0f)))
}

/** The digits of the first eight of sixteen bytes, and those of the others. */
function firstDigits(high: v128, low: v128): v128 {
  return i8x16.shuffle(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
}

function lastDigits(high: v128, low: v128): v128 {
  return i8x16.shuffle(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
}

/** The digits of so many bytes, end to end. */
export function writeDigits(source: usize, byteLength: i32, out: usize): void {
  for (let at = 0; at < byteLength; at += 16) {
    const bytes = v128.load(source)
    const high = upper(bytes)
    const low = lower(bytes)
    v128.store(out, firstDigits(high, low))
    v128.store(out, lastDigits(high, low), 16)
    source += 16
    out += 32
  }
}

/** So many UUIDs of sixteen bytes each, as texts of 36, end to end. */
export function writeUuids(source: usize, count: i32, out: usize): void {
  const dash = i8x16.splat(0x2d)
  for (let i = 0; i < count; i++) {
    const bytes = v128.load(source)
    const high = upper(bytes)
    const low = lower(bytes)
    const first = firstDigits(high, low)
    const last = lastDigits(high, low)
    v128.store(
      out,
      i8x16.shuffle(first, dash, 0, 1, 2, 3, 4, 5, 6, 7, 16, 8, 9, 10, 11, 16, 12, 13),
    )
    const middle = i8x16.shuffle(
      first,
      last,
      14,
      15,
      0,
      16,
      17,
      18,
      19,
      0,
      20,
      21,
      22,
      23,
      24,
      25,
      26,
      27,
    )
    v128.store(
      out,
      i8x16.shuffle(middle, dash, 0, 1, 16, 3, 4, 5, 6, 16, 8, 9, 10, 11, 12, 13, 14, 15),
      16,
    )
    store<i32>(out, i32x4.extract_lane(last, 3), 32)
    source += 16
    out += 36
  }
}
