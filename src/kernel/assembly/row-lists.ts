/** Lists of rows as `vector/row-list.ts` writes them. */

/**
 * Sets the bits of the rows of a list in `rows`.
 *
 * @param lower how many lower bits of a gap are written as they are; 16 bytes after the code must be readable
 */
export function addListedRows(code: usize, count: i32, lower: i32, rows: usize): void {
  const mask = ((<u64>1) << lower) - 1
  // Places of bits, counted from the code's first.
  let at: i32 = 0
  let row: i32 = -1
  let i: i32 = 0
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
    // A gap of many bits.
    let upper: i32 = 0
    while (window === 0) {
      upper += left
      at += left
      window = load<u64>(code + <usize>(at >> 3))
      left = 64
    }
    const zeros = <i32>ctz(window)
    upper += zeros
    at += zeros + 1
    const low = <i32>((load<u64>(code + <usize>(at >> 3)) >> (at & 7)) & mask)
    at += lower
    row += 1 + ((upper << lower) | low)
    addRow(rows, row)
    i++
  }
}

function addRow(rows: usize, row: i32): void {
  const place = rows + <usize>((row >> 5) << 2)
  store<i32>(place, load<i32>(place) | (1 << (row & 31)))
}
