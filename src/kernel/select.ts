import type { NumberComparison } from './compare.ts'

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

/**
 * Writes the indexes of the rows whose value compares with `y` as asked; returns how many there are.
 * One pass instead of a comparison and a selection: 2 against 5 ns per row.
 */
export function selectCompared(
  operator: NumberComparison,
  values: Float64Array,
  y: number,
  count: number,
  out: Int32Array,
): number {
  let selected = 0
  switch (operator) {
    case 'eq':
      for (let row = 0; row < count; row++) {
        const x = values[row]!
        out[selected] = row
        selected += +(x === y)
      }
      return selected
    case 'ne':
      for (let row = 0; row < count; row++) {
        const x = values[row]!
        out[selected] = row
        selected += +(x < y) | +(x > y)
      }
      return selected
    case 'lt':
      for (let row = 0; row < count; row++) {
        const x = values[row]!
        out[selected] = row
        selected += +(x < y)
      }
      return selected
    case 'le':
      for (let row = 0; row < count; row++) {
        const x = values[row]!
        out[selected] = row
        selected += +(x <= y)
      }
      return selected
    case 'gt':
      for (let row = 0; row < count; row++) {
        const x = values[row]!
        out[selected] = row
        selected += +(x > y)
      }
      return selected
    case 'ge':
      for (let row = 0; row < count; row++) {
        const x = values[row]!
        out[selected] = row
        selected += +(x >= y)
      }
      return selected
  }
}

/** The same for the rows of a selection, which `out` may be. */
export function selectComparedWithin(
  operator: NumberComparison,
  values: Float64Array,
  y: number,
  selection: Int32Array,
  out: Int32Array,
): number {
  let selected = 0
  switch (operator) {
    case 'eq':
      for (let i = 0; i < selection.length; i++) {
        const row = selection[i]!
        const x = values[row]!
        out[selected] = row
        selected += +(x === y)
      }
      return selected
    case 'ne':
      for (let i = 0; i < selection.length; i++) {
        const row = selection[i]!
        const x = values[row]!
        out[selected] = row
        selected += +(x < y) | +(x > y)
      }
      return selected
    case 'lt':
      for (let i = 0; i < selection.length; i++) {
        const row = selection[i]!
        const x = values[row]!
        out[selected] = row
        selected += +(x < y)
      }
      return selected
    case 'le':
      for (let i = 0; i < selection.length; i++) {
        const row = selection[i]!
        const x = values[row]!
        out[selected] = row
        selected += +(x <= y)
      }
      return selected
    case 'gt':
      for (let i = 0; i < selection.length; i++) {
        const row = selection[i]!
        const x = values[row]!
        out[selected] = row
        selected += +(x > y)
      }
      return selected
    case 'ge':
      for (let i = 0; i < selection.length; i++) {
        const row = selection[i]!
        const x = values[row]!
        out[selected] = row
        selected += +(x >= y)
      }
      return selected
  }
}

/**
 * Writes the indexes of the rows whose code is true (1) in the table, whose last entry is that of
 * null; returns how many there are.
 */
export function selectByCode(
  table: Uint8Array,
  codes: Int32Array,
  count: number,
  out: Int32Array,
): number {
  const size = table.length
  let selected = 0
  for (let row = 0; row < count; row++) {
    const code = codes[row]!
    out[selected] = row
    selected += +(table[code + (size & (code >> 31))] === 1)
  }
  return selected
}

/** The same for the rows of a selection, which `out` may be. */
export function selectByCodeWithin(
  table: Uint8Array,
  codes: Int32Array,
  selection: Int32Array,
  out: Int32Array,
): number {
  const size = table.length
  let selected = 0
  for (let i = 0; i < selection.length; i++) {
    const row = selection[i]!
    const code = codes[row]!
    out[selected] = row
    selected += +(table[code + (size & (code >> 31))] === 1)
  }
  return selected
}

/**
 * The rows of a selection whose value is not below `y`, or not above it; NaN is neither. `out` may be
 * the selection.
 */
export function selectNotBeyond(
  side: 'below' | 'above',
  values: Float64Array,
  y: number,
  selection: Int32Array,
  out: Int32Array,
): number {
  let selected = 0
  if (side === 'below') {
    for (let i = 0; i < selection.length; i++) {
      const row = selection[i]!
      out[selected] = row
      selected += +!(values[row]! < y)
    }
    return selected
  }
  for (let i = 0; i < selection.length; i++) {
    const row = selection[i]!
    out[selected] = row
    selected += +!(values[row]! > y)
  }
  return selected
}
