/** Writes the indexes of the rows that are true (1) to `out`; returns how many there are. */
export function selectTrue(values: Uint8Array, count: number, out: Int32Array): number {
  let selected = 0
  for (let i = 0; i < count; i++) {
    // Without a branch: every index is written, and only kept if the row is true.
    out[selected] = i
    selected += +(values[i] === 1)
  }
  return selected
}

/** The same for the rows of a selection, which `out` may be. */
export function selectTrueWithin(
  values: Uint8Array,
  selection: Int32Array,
  out: Int32Array,
): number {
  let selected = 0
  for (let i = 0; i < selection.length; i++) {
    const row = selection[i]!
    out[selected] = row
    selected += +(values[row] === 1)
  }
  return selected
}

export function countTrue(values: Uint8Array, count: number): number {
  let total = 0
  for (let i = 0; i < count; i++) total += +(values[i] === 1)
  return total
}
