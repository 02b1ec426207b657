/** Three-valued logic on bytes: 0 false, 1 true, 2 unknown. */

/** `left[i] = left[i] and right[i]`: false wins over unknown, unknown over true. */
export function andInto(left: Uint8Array, right: Uint8Array, count: number): void {
  for (let i = 0; i < count; i++) {
    const a = left[i]!
    const b = right[i]!
    left[i] = a === 0 || b === 0 ? 0 : a | b
    if (left[i] === 3) left[i] = 2
  }
}

/** `left[i] = left[i] or right[i]`: true wins over unknown, unknown over false. */
export function orInto(left: Uint8Array, right: Uint8Array, count: number): void {
  for (let i = 0; i < count; i++) {
    const a = left[i]!
    const b = right[i]!
    left[i] = a === 1 || b === 1 ? 1 : a | b
  }
}

export function notOf(values: Uint8Array, count: number, out: Uint8Array): void {
  for (let i = 0; i < count; i++) {
    const value = values[i]!
    out[i] = value === 2 ? 2 : 1 - value
  }
}
