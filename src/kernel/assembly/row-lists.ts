/**
 * Sets of rows as bits, and lists of rows as `vector/row-list.ts` writes them: of each gap between two rows its upper
 * bits as so many zeros, a one, and its lower bits as they are. 16 bytes after a code must be readable.
 */
import { gapTableCount, gapTables } from './memory'

/** So many bits of a code are looked up at once. */
const lookedUp = 10
/** Gaps that so many bits may have. */
const mostGaps = lookedUp / 2
/** So often a window of 57 bits can be looked into. */
const looksPerWindow = 5

/**
 * For lists whose gaps have one lower bit, and for those with two, a table of what so many bits begin with, in 16
 * bytes: the rows of whole gaps as bits, counted from the first row that may come; how many bits the gaps are, how many
 * they are, and which row may come next, in one number. Nothing where no gap is whole. More lower bits leave one gap in a
 * look-up, which then takes longer than to read that.
 */
function tableOf(lower: i32): usize {
  return gapTables + ((<usize>(lower - 1)) << (lookedUp + 4))
}

export function makeGapTables(): void {
  for (let lower = 1; lower <= gapTableCount; lower++) {
    for (let bits = 0; bits < 1 << lookedUp; bits++) {
      makeEntry(tableOf(lower) + ((<usize>bits) << 4), bits, lower)
    }
  }
}

function makeEntry(entry: usize, bits: i32, lower: i32): void {
  let rows: u64 = 0
  let used = 0
  let next = 0
  let gaps = 0
  for (;;) {
    const left = bits >> used
    const zeros = ctz(left | (1 << lookedUp))
    const length = zeros + 1 + lower
    const row = next + ((zeros << lower) | ((left >> (zeros + 1)) & ((1 << lower) - 1)))
    if (used + length > lookedUp || row > 63) break
    rows |= (<u64>1) << row
    next = row + 1
    used += length
    gaps++
  }
  store<u64>(entry, rows)
  store<u32>(entry, used | (gaps << 8) | (next << 16), 8)
}

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
 * Sets the bits of the rows of a list in `rows`.
 *
 * @param lower how many lower bits of a gap are written as they are
 */
export function addListedRows(code: usize, count: i32, lower: i32, rows: usize): void {
  if (lower > 0 && lower <= gapTableCount) addNearRows(code, count, lower, rows)
  else addFarRows(code, count, lower, rows)
}

/** Several gaps at a time. */
function addNearRows(code: usize, count: i32, lower: i32, rows: usize): void {
  const table = tableOf(lower)
  const indexes: u64 = (1 << lookedUp) - 1
  const lastOfMany = count - mostGaps * looksPerWindow
  let at = 0
  let row = 0
  let i = 0
  // The rows of one word, which is written once rows are beyond it.
  let word = 0
  let bits: u64 = 0
  while (i < count) {
    let looks = 0
    if (i <= lastOfMany) {
      let window = load<u64>(code + <usize>(at >> 3)) >> (at & 7)
      // Bits and gaps of all looks together, each in a byte.
      let all = 0
      for (; looks < looksPerWindow; looks++) {
        const entry = table + ((<usize>(window & indexes)) << 4)
        const parts = load<u32>(entry, 8)
        if (parts === 0) break
        // By the bits, which are the lowest of the parts.
        window >>= <u64>parts
        all += parts
        const found = load<u64>(entry)
        const shift = row & 63
        row += parts >> 16
        bits |= found << shift
        if (row >> 6 === word) continue
        addWord(rows, word, bits)
        word = row >> 6
        bits = shift === 0 ? 0 : found >> (64 - shift)
      }
      at += all & 0xff
      i += (all >> 8) & 0xff
    }
    if (looks > 0) continue
    row += gapAt(code, at, lower)
    at = gapEnd
    i++
    if (row >> 6 !== word) {
      addWord(rows, word, bits)
      word = row >> 6
      bits = 0
    }
    bits |= (<u64>1) << (row & 63)
    row++
    if (row >> 6 === word) continue
    addWord(rows, word, bits)
    word = row >> 6
    bits = 0
  }
  addWord(rows, word, bits)
}

function addWord(rows: usize, word: i32, bits: u64): void {
  if (bits === 0) return
  const place = rows + ((<usize>word) << 3)
  store<u64>(place, load<u64>(place) | bits)
}

/** Gap by gap. */
function addFarRows(code: usize, count: i32, lower: i32, rows: usize): void {
  const mask = ((<u64>1) << lower) - 1
  let at = 0
  let row = -1
  let i = 0
  while (i < count) {
    const shift = at & 7
    let window = load<u64>(code + <usize>(at >> 3)) >> shift
    let left = 64 - shift
    const before = i
    while (i < count) {
      // 64 where there is no one.
      const zeros = <i32>ctz(window)
      const length = zeros + 1 + lower
      // Less than all, so that the shift below is by less than 64.
      if (length >= left) break
      const rest = window >> (zeros + 1)
      row += 1 + ((zeros << lower) | <i32>(rest & mask))
      addRow(rows, row)
      window = rest >> lower
      left -= length
      at += length
      i++
    }
    if (i > before) continue
    row += 1 + gapAt(code, at, lower)
    at = gapEnd
    addRow(rows, row)
    i++
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
