/**
 * How often whole numbers of one, two or four bytes come, as they are stored, and between which they lie. The
 * least of a width stands for null.
 */
import { codeAt, noNumber, setCode } from './memory'

/** Of counts that are added up: also in `../number-counts.ts`. */
const blockCounts = 256

/** Writes the least and the greatest to `out`, which has two codes; the least of none is above the greatest. */
function writeBounds<T>(source: usize, count: i32, out: usize): void {
  const none = noNumber<T>()
  let least = i32.MAX_VALUE
  let greatest = i32.MIN_VALUE
  for (let row = 0; row < count; row++) {
    const integer = <i32>load<T>(source + <usize>row * sizeof<T>())
    const isNone = integer === none
    least = min(least, select<i32>(i32.MAX_VALUE, integer, isNone))
    greatest = max(greatest, select<i32>(i32.MIN_VALUE, integer, isNone))
  }
  setCode(out, 0, least)
  setCode(out, 1, greatest)
}

export function boundsOf8(source: usize, count: i32, out: usize): void {
  writeBounds<i8>(source, count, out)
}

/** Eight at once; those that are over by themselves. */
export function boundsOf16(source: usize, count: i32, out: usize): void {
  const none = i16x8.splat(i16.MIN_VALUE)
  let least = i16x8.splat(i16.MAX_VALUE)
  let greatest = none
  const whole = count & ~7
  for (let row = 0; row < whole; row += 8) {
    const integers = v128.load(source + ((<usize>row) << 1))
    greatest = i16x8.max_s(greatest, integers)
    // Null becomes the greatest there is.
    least = i16x8.min_s(least, v128.xor(integers, i16x8.eq(integers, none)))
  }
  writeBounds<i16>(source + ((<usize>whole) << 1), count - whole, out)
  let low = codeAt(out, 0)
  let high = codeAt(out, 1)
  for (let place = 0; place < 8; place++) {
    low = min(low, <i32>i16x8.extract_lane_s(least, 0))
    high = max(high, <i32>i16x8.extract_lane_s(greatest, 0))
    least = i16x8.shuffle(least, least, 1, 2, 3, 4, 5, 6, 7, 0)
    greatest = i16x8.shuffle(greatest, greatest, 1, 2, 3, 4, 5, 6, 7, 0)
  }
  setCode(out, 0, low)
  setCode(out, 1, high)
}

/** Four at once, in the same way. */
export function boundsOf32(source: usize, count: i32, out: usize): void {
  const none = i32x4.splat(i32.MIN_VALUE)
  let least = i32x4.splat(i32.MAX_VALUE)
  let greatest = none
  const whole = count & ~3
  for (let row = 0; row < whole; row += 4) {
    const integers = v128.load(source + ((<usize>row) << 2))
    greatest = i32x4.max_s(greatest, integers)
    least = i32x4.min_s(least, v128.xor(integers, i32x4.eq(integers, none)))
  }
  writeBounds<i32>(source + ((<usize>whole) << 2), count - whole, out)
  let low = codeAt(out, 0)
  let high = codeAt(out, 1)
  for (let place = 0; place < 4; place++) {
    low = min(low, i32x4.extract_lane(least, 0))
    high = max(high, i32x4.extract_lane(greatest, 0))
    least = i32x4.shuffle(least, least, 1, 2, 3, 0)
    greatest = i32x4.shuffle(greatest, greatest, 1, 2, 3, 0)
  }
  setCode(out, 0, low)
  setCode(out, 1, high)
}

function addCountsOf<T>(
  source: usize,
  groups: usize,
  only: i32,
  selection: usize,
  count: i32,
  shift: i32,
  stride: i32,
  counts: usize,
): void {
  const none = noNumber<T>()
  for (let i = 0; i < count; i++) {
    const row = selection === 0 ? i : codeAt(selection, i)
    const integer = <i32>load<T>(source + <usize>row * sizeof<T>())
    const group = groups === 0 ? only : codeAt(groups, i)
    // `select` is a branch in machine code.
    const isThere = <i32>(integer !== none)
    const place = ((group * stride + integer + shift + 1) & -isThere) - 1
    setCode(counts, place, codeAt(counts, place) + 1)
  }
}

/**
 * Adds to the counts of numbers: that of a number is at the place of the number and `shift`, in the `stride` places of
 * its group. Before the first is room for one more, which takes nulls.
 *
 * @param width bytes of a number
 * @param groups of the selected rows, one after the other; 0: all are in the group `only`
 * @param selection 0: all rows
 */
export function addCounts(
  width: i32,
  source: usize,
  groups: usize,
  only: i32,
  selection: usize,
  count: i32,
  shift: i32,
  stride: i32,
  counts: usize,
): void {
  if (width === 1) addCountsOf<i8>(source, groups, only, selection, count, shift, stride, counts)
  else if (width === 2)
    addCountsOf<i16>(source, groups, only, selection, count, shift, stride, counts)
  else addCountsOf<i32>(source, groups, only, selection, count, shift, stride, counts)
}

/** Writes the sum of each block of counts. */
export function sumBlocks(counts: usize, blocks: i32, out: usize): void {
  for (let block = 0; block < blocks; block++) {
    let a = i32x4.splat(0)
    let b = a
    const end = counts + (blockCounts << 2)
    while (counts < end) {
      a = i32x4.add(a, v128.load(counts))
      b = i32x4.add(b, v128.load(counts, 16))
      counts += 32
    }
    a = i32x4.add(a, b)
    a = i32x4.add(a, i32x4.shuffle(a, a, 2, 3, 0, 1))
    setCode(out, block, i32x4.extract_lane(a, 0) + i32x4.extract_lane(a, 1))
  }
}
