/** Gathers by code: `out[i]` is the table's value for code `i`, or that of null where it is -1. */

export function gatherNumbers(
  table: Float64Array,
  codes: Int32Array,
  count: number,
  out: Float64Array,
  forNull: number,
): void {
  for (let i = 0; i < count; i++) {
    const code = codes[i]!
    out[i] = code < 0 ? forNull : table[code]!
  }
}

/** The table's last value is that of null. */
export function gatherBytes(
  table: Uint8Array,
  codes: Int32Array,
  count: number,
  out: Uint8Array,
): void {
  const forNull = table[table.length - 1]!
  for (let i = 0; i < count; i++) {
    const code = codes[i]!
    out[i] = code < 0 ? forNull : table[code]!
  }
}

export function gatherCodes(
  table: Int32Array,
  codes: Int32Array,
  count: number,
  out: Int32Array,
  forNull: number,
): void {
  for (let i = 0; i < count; i++) {
    const code = codes[i]!
    out[i] = code < 0 ? forNull : table[code]!
  }
}

/** `out[j] = values[selection[j]]` */
export function pickNumbers(values: Float64Array, selection: Int32Array, out: Float64Array): void {
  for (let j = 0; j < selection.length; j++) out[j] = values[selection[j]!]!
}

/** `out[j] = values[selection[j]]` */
export function pickCodes(values: Int32Array, selection: Int32Array, out: Int32Array): void {
  for (let j = 0; j < selection.length; j++) out[j] = values[selection[j]!]!
}
