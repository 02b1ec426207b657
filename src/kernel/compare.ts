/**
 * Comparisons of doubles, row by row. NaN is null, and gives 2 (unknown).
 *
 * Kernels of this folder take arrays and a row count, write `out`, do not allocate and do not throw.
 */
export type NumberComparison = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'

/** `swap[op]` compares the operands the other way round. */
export const swapped: Readonly<Record<NumberComparison, NumberComparison>> = {
  eq: 'eq',
  ne: 'ne',
  lt: 'gt',
  le: 'ge',
  gt: 'lt',
  ge: 'le',
}

/** `out[i] = left[i] op right`; `right` is not NaN. */
export function compareWithConstant(
  operator: NumberComparison,
  left: Float64Array,
  right: number,
  count: number,
  out: Uint8Array,
): void {
  // NaN fails every comparison, so the third value is added for it: `x !== x` is 1 for NaN alone.
  switch (operator) {
    case 'eq':
      for (let i = 0; i < count; i++)
        out[i] = +(left[i]! === right) | (+Number.isNaN(left[i]!) << 1)
      return
    case 'ne':
      for (let i = 0; i < count; i++) {
        const value = left[i]!
        out[i] = Number.isNaN(value) ? 2 : +(value !== right)
      }
      return
    case 'lt':
      for (let i = 0; i < count; i++) out[i] = +(left[i]! < right) | (+Number.isNaN(left[i]!) << 1)
      return
    case 'le':
      for (let i = 0; i < count; i++) out[i] = +(left[i]! <= right) | (+Number.isNaN(left[i]!) << 1)
      return
    case 'gt':
      for (let i = 0; i < count; i++) out[i] = +(left[i]! > right) | (+Number.isNaN(left[i]!) << 1)
      return
    case 'ge':
      for (let i = 0; i < count; i++) out[i] = +(left[i]! >= right) | (+Number.isNaN(left[i]!) << 1)
      return
  }
}

/** `out[i] = left[i] op right[i]`. */
export function compareNumbers(
  operator: NumberComparison,
  left: Float64Array,
  right: Float64Array,
  count: number,
  out: Uint8Array,
): void {
  switch (operator) {
    case 'eq':
      for (let i = 0; i < count; i++) out[i] = +(left[i]! === right[i]!)
      break
    case 'ne':
      for (let i = 0; i < count; i++) out[i] = +(left[i]! !== right[i]!)
      break
    case 'lt':
      for (let i = 0; i < count; i++) out[i] = +(left[i]! < right[i]!)
      break
    case 'le':
      for (let i = 0; i < count; i++) out[i] = +(left[i]! <= right[i]!)
      break
    case 'gt':
      for (let i = 0; i < count; i++) out[i] = +(left[i]! > right[i]!)
      break
    case 'ge':
      for (let i = 0; i < count; i++) out[i] = +(left[i]! >= right[i]!)
      break
  }
  for (let i = 0; i < count; i++) {
    // The sum is NaN when either is, and also for infinities, which no column holds.
    if (Number.isNaN(left[i]! + right[i]!)) out[i] = 2
  }
}
