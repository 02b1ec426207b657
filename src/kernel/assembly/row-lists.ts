/**
 * Sets of rows as bits, and lists of rows as `vector/row-list.ts` writes them. 16 bytes after a code must be readable.
 */
import { byteAt } from './memory'

/** As in `vector/row-list.ts`. */
const longGap = 255

/** Bits of a window that begins at any bit of a byte. */
const windowBits = 57

/** Where the gap that was read last ends, in bits. */
let gapEnd = 0

/** The gap whose code begins at a bit, whatever its length. */
function gapAt(code: usize, at: i32, lower: i32): i32 {
  let upper = 0
  let window = load<u64>(code + <usize>(at >> 3)) >> (at & 7)
  let left = 64 - (at & 7)
  while (window === 0) {
    upper += left
    at += left
    window = load<u64>(code + <usize>(at >> 3))
    left = 64
  }
  const zeros = <i32>ctz(window)
  at += zeros + 1
  const low = <i32>(load<u64>(code + <usize>(at >> 3)) >> (at & 7)) & ((1 << lower) - 1)
  gapEnd = at + lower
  return ((upper + zeros) << lower) | low
}

/**
 * Sets the bits of the rows of a list in Rice's code in `rows`.
 *
 * @param lower how many lower bits of a gap are written as they are
 */
export function addListedRows(code: usize, count: i32, lower: i32, rows: usize): void {
  const mask = ((<u64>1) << lower) - 1
  // Of upper bits, so that all of a gap is in its window.
  const most = windowBits - 1 - lower
  let at = 0
  let row = -1
  for (let i = 0; i < count; i++) {
    const window = load<u64>(code + <usize>(at >> 3)) >> (at & 7)
    // 64 where there is no one.
    const zeros = <i32>ctz(window)
    if (zeros <= most) {
      row += 1 + ((zeros << lower) | <i32>((window >> (zeros + 1)) & mask))
      at += zeros + 1 + lower
    } else {
      row += 1 + gapAt(code, at, lower)
      at = gapEnd
    }
    addRow(rows, row)
  }
}

/** Sets those of a list in bytes of gaps, which are so many. */
export function addNearRows(code: usize, byteLength: i32, rows: usize): void {
  let row = 0
  for (let at = 0; at < byteLength; at++) {
    const gap = byteAt(code, at)
    row += gap
    if (gap === longGap) continue
    addRow(rows, row)
    row++
  }
}

function addRow(rows: usize, row: i32): void {
  const place = rows + <usize>((row >> 5) << 2)
  store<i32>(place, load<i32>(place) | (1 << (row & 31)))
}

/** How many bits are set in so many words. */
export function countBits(words: usize, count: i32): i32 {
  let found: i64 = 0
  const even = count & ~1
  for (let i = 0; i < even; i += 2) found += popcnt(load<u64>(words + ((<usize>i) << 2)))
  if (even < count) found += popcnt(<i64>load<u32>(words + ((<usize>even) << 2)))
  return <i32>found
}
