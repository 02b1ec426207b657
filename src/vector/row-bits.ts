/** Sets of rows as bits: bit `i & 31` of integer `i >> 5` is that of row `i`, as in Arrow's bitmaps. */

export type RowBits = Int32Array

/** No row. */
export function noRows(rowCount: number): RowBits {
  return new Int32Array((rowCount + 31) >> 5)
}

/** The set as an Arrow bitmap, in the same memory. */
export function bitmapOf(rows: RowBits): Uint8Array {
  return new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength)
}

export function addRow(rows: RowBits, row: number): void {
  rows[row >> 5]! |= 1 << (row & 31)
}

export function removeRow(rows: RowBits, row: number): void {
  rows[row >> 5]! &= ~(1 << (row & 31))
}

export function hasRow(rows: RowBits, row: number): boolean {
  return (rows[row >> 5]! & (1 << (row & 31))) !== 0
}

/** Adds the rows `from … to`. */
export function addRange(rows: RowBits, from: number, to: number): void {
  let row = from
  for (; row < to && (row & 31) !== 0; row++) addRow(rows, row)
  if (row < to) rows.fill(-1, row >> 5, to >> 5)
  for (row = Math.max(row, to & ~31); row < to; row++) addRow(rows, row)
}

/** Adds those of a bitmap over the same rows; undefined: all of them. */
export function addBitmap(rows: RowBits, bitmap: Uint8Array | undefined, rowCount: number): void {
  if (bitmap === undefined) {
    addRange(rows, 0, rowCount)
    return
  }
  const bytes = bitmapOf(rows)
  for (let i = 0; i < bitmap.length; i++) bytes[i]! |= bitmap[i]!
}

export function remove(rows: RowBits, others: RowBits): void {
  for (let i = 0; i < rows.length; i++) rows[i]! &= ~others[i]!
}

/** Whether no row is in the one set and not in the other. */
export function isWithin(rows: RowBits, others: RowBits): boolean {
  for (let i = 0; i < rows.length; i++) if ((rows[i]! & ~others[i]!) !== 0) return false
  return true
}

export function isEmpty(rows: RowBits): boolean {
  for (let i = 0; i < rows.length; i++) if (rows[i] !== 0) return false
  return true
}

/** Writes those of the rows `from … to` that are in the set to `out`, ascending and counted from `from` on. */
export function listRows(rows: RowBits, from: number, to: number, out: Int32Array): void {
  if (from >= to) return
  const [first, last] = [from >> 5, (to - 1) >> 5]
  let count = 0
  for (let i = first; i <= last; i++) {
    let bits = rows[i]!
    if (bits === 0) continue
    if (i === first) bits &= -1 << (from & 31)
    if (i === last) bits &= -1 >>> (31 - ((to - 1) & 31))
    for (; bits !== 0; bits &= bits - 1) {
      out[count++] = i * 32 + 31 - Math.clz32(bits & -bits) - from
    }
  }
}
