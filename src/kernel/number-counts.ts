/** How often each whole number comes in groups, by columns as they are stored: see `assembly/number-counts.ts`. */
import {
  beginKernel,
  codes,
  isOfKernels,
  kernels,
  place,
  placeOutput,
  takeOutput,
} from './arena.ts'
import { type NarrowNumbers, noNumberOf, placeIntegers, widthOf } from './widen.ts'

const bounds = {
  1: kernels.boundsOf8,
  2: kernels.boundsOf16,
  4: kernels.boundsOf32,
} as const

const two = new Int32Array(2)

/** The least and the greatest of at most `maximumRows` whole numbers; undefined if all are null. */
export function boundsOfIntegers(
  integers: NarrowNumbers,
): { readonly least: number; readonly greatest: number } | undefined {
  beginKernel()
  const source = placeIntegers(integers)
  const at = placeOutput(two, 2)
  bounds[widthOf(integers)](source, integers.length, at)
  const [least, greatest] = [codes[at >> 2]!, codes[(at >> 2) + 1]!]
  return greatest < least ? undefined : { least, greatest }
}

/** So many counts are added up as a block: also in `assembly/number-counts.ts`. */
export const blockCounts = 256

/** Writes the sum of each block of counts to `out`. */
export function sumBlocks(counts: Int32Array, out: Int32Array): void {
  if (isOfKernels(counts)) {
    beginKernel()
    const at = placeOutput(out, out.length)
    kernels.sumBlocks(counts.byteOffset, out.length, at)
    takeOutput(out, out.length, at)
    return
  }
  for (let block = 0; block < out.length; block++) {
    let sum = 0
    for (let i = block * blockCounts; i < (block + 1) * blockCounts; i++) sum += counts[i]!
    out[block] = sum
  }
}

/** Rows of a batch: `groups[i]` is the group of the i-th that is selected. */
export interface GroupedRows {
  readonly selection: Int32Array | undefined
  readonly groups: Int32Array
  /** The group that all of them are in. */
  readonly only?: number | undefined
  readonly count: number
}

/** A place for each number from `first` on, group by group. */
export interface CountPlaces {
  readonly first: number
  readonly stride: number
  readonly counts: Int32Array
}

/**
 * Counts the numbers of the selected rows, each of which has a place. At most `maximumRows`.
 *
 * @param base what is to be added to each of `integers`
 */
export function addNumberCounts(
  integers: NarrowNumbers,
  base: number,
  { selection, groups, only, count }: GroupedRows,
  { first, stride, counts }: CountPlaces,
): void {
  const shift = base - first
  if (!isOfKernels(counts)) {
    const none = noNumberOf(integers)
    for (let i = 0; i < count; i++) {
      const integer = integers[selection ? selection[i]! : i]!
      if (integer === none) continue
      counts[(only ?? groups[i]!) * stride + integer + shift]!++
    }
    return
  }
  beginKernel()
  kernels.addCounts(
    widthOf(integers),
    placeIntegers(integers),
    only === undefined ? place(groups, count) : 0,
    only ?? 0,
    selection ? place(selection, count) : 0,
    count,
    shift,
    stride,
    counts.byteOffset,
  )
}
