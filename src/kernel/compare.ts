/**
 * Comparisons of doubles, row by row. NaN is null, and gives 2 (unknown).
 *
 * Kernels of this folder take arrays and a row count, write `out`, do not allocate and do not throw.
 */
export type NumberComparison = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'

/** `swapped[op]` compares the operands the other way round. */
export const swapped: Readonly<Record<NumberComparison, NumberComparison>> = {
  eq: 'eq',
  ne: 'ne',
  lt: 'gt',
  le: 'ge',
  gt: 'lt',
  ge: 'le',
}

// Each row gives 2, less 1 where the comparison holds, less 2 where its opposite does. With NaN
// neither does. Without a branch this takes 2 to 3 ns per row, a test for NaN 5 to 15.

/** `out[i] = left[i] op right`. */
export function compareWithConstant(
  operator: NumberComparison,
  left: Float64Array,
  right: number,
  count: number,
  out: Uint8Array,
): void {
  const y = right
  switch (operator) {
    case 'eq':
      for (let i = 0; i < count; i++) {
        const x = left[i]!
        out[i] = 2 - +(x === y) - ((+(x < y) | +(x > y)) << 1)
      }
      return
    case 'ne':
      for (let i = 0; i < count; i++) {
        const x = left[i]!
        out[i] = 2 - (+(x < y) | +(x > y)) - (+(x === y) << 1)
      }
      return
    case 'lt':
      for (let i = 0; i < count; i++) {
        const x = left[i]!
        out[i] = 2 - +(x < y) - (+(x >= y) << 1)
      }
      return
    case 'le':
      for (let i = 0; i < count; i++) {
        const x = left[i]!
        out[i] = 2 - +(x <= y) - (+(x > y) << 1)
      }
      return
    case 'gt':
      for (let i = 0; i < count; i++) {
        const x = left[i]!
        out[i] = 2 - +(x > y) - (+(x <= y) << 1)
      }
      return
    case 'ge':
      for (let i = 0; i < count; i++) {
        const x = left[i]!
        out[i] = 2 - +(x >= y) - (+(x < y) << 1)
      }
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
      for (let i = 0; i < count; i++) {
        const x = left[i]!
        const y = right[i]!
        out[i] = 2 - +(x === y) - ((+(x < y) | +(x > y)) << 1)
      }
      return
    case 'ne':
      for (let i = 0; i < count; i++) {
        const x = left[i]!
        const y = right[i]!
        out[i] = 2 - (+(x < y) | +(x > y)) - (+(x === y) << 1)
      }
      return
    case 'lt':
      for (let i = 0; i < count; i++) {
        const x = left[i]!
        const y = right[i]!
        out[i] = 2 - +(x < y) - (+(x >= y) << 1)
      }
      return
    case 'le':
      for (let i = 0; i < count; i++) {
        const x = left[i]!
        const y = right[i]!
        out[i] = 2 - +(x <= y) - (+(x > y) << 1)
      }
      return
    case 'gt':
      for (let i = 0; i < count; i++) {
        const x = left[i]!
        const y = right[i]!
        out[i] = 2 - +(x > y) - (+(x <= y) << 1)
      }
      return
    case 'ge':
      for (let i = 0; i < count; i++) {
        const x = left[i]!
        const y = right[i]!
        out[i] = 2 - +(x >= y) - (+(x < y) << 1)
      }
      return
  }
}
