/**
 * How often codes of one or two bytes come, as they are stored; -1 is null. As in `few-groups.ts`, each code has four
 * places that rows take turns in.
 */
import { codeAt, numberAt, setCode, setNumber } from './memory'

const laneCount = 4

function increase<T>(counts: usize, codes: usize, row: i32): void {
  const code = <i32>load<T>(codes + <usize>row * sizeof<T>())
  setCode(counts, code, codeAt(counts, code) + 1)
}

function countCodesOf<T>(codes: usize, count: i32, size: i32, lanes: usize, counts: usize): void {
  // One more, for null, which comes before the others.
  const laneBytes = (<usize>(size + 1)) << 2
  for (let at: usize = 0; at < laneBytes * laneCount; at += 16) {
    v128.store(lanes + at, i32x4.splat(0))
  }
  const a = lanes + 4
  const b = a + laneBytes
  const c = b + laneBytes
  const d = c + laneBytes
  const whole = count & ~3
  for (let row = 0; row < whole; row += 4) {
    increase<T>(a, codes, row)
    increase<T>(b, codes, row + 1)
    increase<T>(c, codes, row + 2)
    increase<T>(d, codes, row + 3)
  }
  for (let row = whole; row < count; row++) increase<T>(a, codes, row)
  for (let code = 0; code < size; code++) {
    const rows = codeAt(a, code) + codeAt(b, code) + codeAt(c, code) + codeAt(d, code)
    setNumber(counts, code, numberAt(counts, code) + <f64>rows)
  }
}

/**
 * @param width bytes of a code, one or two
 * @param lanes has room for 16 bytes per code, and one more
 */
export function countCodes(
  width: i32,
  codes: usize,
  count: i32,
  size: i32,
  lanes: usize,
  counts: usize,
): void {
  if (width === 1) countCodesOf<i8>(codes, count, size, lanes, counts)
  else countCodesOf<i16>(codes, count, size, lanes, counts)
}
