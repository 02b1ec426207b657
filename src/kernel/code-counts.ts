/** How often codes come as columns store them, which are not widened for that. */
import type { StoredIntegers } from '../vector/elements.ts'
import { beginKernel, isOfKernels, kernels, maximumRows, placeOutput } from './arena.ts'
import { placeIntegers, widthOf } from './widen.ts'

const noNumbers = new Float64Array(0)

/** Rows per code from which on lanes pay for being put together. */
const rowsPerLane = 8

/**
 * Adds to the counts of codes that are not null; false, and nothing is added, where it would not be faster than to
 * widen them.
 */
export function countStoredCodes({ integers }: StoredIntegers, counts: Float64Array): boolean {
  const [count, size, width] = [integers.length, counts.length, widthOf(integers)]
  if (width === 4 || count > maximumRows || size * rowsPerLane > count) return false
  if (!isOfKernels(counts)) return false
  beginKernel()
  const source = placeIntegers(integers)
  const lanes = placeOutput(noNumbers, (size + 1) * 2)
  kernels.countCodes(width, source, count, size, lanes, counts.byteOffset)
  return true
}
