/** Numbers groups, and chooses the row that stands for each: see `assembly/groups.ts`. */
import {
  beginKernel,
  inChunks,
  isOfKernels,
  kernels,
  maximumRows,
  place,
  placeCodeTable,
  placeOutput,
  takeNull,
  takeOutput,
} from './arena.ts'

/** Codes that were given numbers so far. */
export interface CodeNumbers {
  /** By code, its number, -1 while it has none; the last place is that of null. */
  readonly table: Int32Array
  /** By number, its code; with room for as many more as there are rows. */
  readonly places: Int32Array
}

/**
 * Replaces codes by numbers that are given in the order in which codes are first seen, from `next` on; returns
 * the number that is to be given next.
 */
export function numberCodes(
  { table, places }: CodeNumbers,
  codes: Int32Array,
  count: number,
  out: Int32Array,
  next: number,
): number {
  const size = table.length
  let after = next
  if (isOfKernels(table) && isOfKernels(places)) {
    inChunks(count, (from, to) => {
      const [some, someOut] = [codes.subarray(from, to), out.subarray(from, to)]
      const isAll = to - from === count
      beginKernel()
      const of = place(isAll ? codes : some, to - from)
      const at = placeOutput(isAll ? out : someOut, to - from)
      const led = placeCodeTable(table)
      after = kernels.numberCodes(led, of, to - from, at, after, places.byteOffset)
      takeNull(table)
      takeOutput(isAll ? out : someOut, to - from, at)
    })
    return after
  }
  for (let i = 0; i < count; i++) {
    const code = codes[i]!
    const at = code + (size & (code >> 31))
    if (table[at]! < 0) {
      table[at] = after
      places[after++] = code
    }
    out[i] = table[at]!
  }
  return after
}

const oneNumber = new Float64Array(1)
const halves = new Uint32Array(oneNumber.buffer)

/** A slot of 1024, by a hash of the number's bits: as `assembly/groups.ts` has it. */
export function slotOfNumber(number: number): number {
  oneNumber[0] = number
  const hash = Math.imul(halves[0]! ^ Math.imul(halves[1]!, 0x85ebca6b), 0x9e3779b1)
  return hash >>> 22
}

/** By `slotOfNumber`, a number and its code. */
export interface RecalledNumbers {
  readonly numbers: Float64Array
  readonly codes: Int32Array
}

/**
 * Replaces numbers by their codes; one that is not among the recalled becomes -1, and NaN `ofNull`. Returns -1
 * if there is a -1 among them, else 0.
 */
export function recallCodes(
  { numbers, codes }: RecalledNumbers,
  values: Float64Array,
  count: number,
  ofNull: number,
  out: Int32Array,
): number {
  if (isOfKernels(numbers) && isOfKernels(codes) && count <= maximumRows) {
    beginKernel()
    const [of, at] = [place(values, count), placeOutput(out, count)]
    const least = kernels.recallCodes(numbers.byteOffset, codes.byteOffset, of, count, ofNull, at)
    takeOutput(out, count, at)
    return least
  }
  let least = 0
  for (let i = 0; i < count; i++) {
    const value = values[i]!
    const slot = slotOfNumber(value)
    const known = numbers[slot] === value ? codes[slot]! : -1
    out[i] = Number.isNaN(value) ? ofNull : known
    least = Math.min(least, out[i]!)
  }
  return least
}

/** Of what is kept for a group, the bit that is set when its row is no preferred one, and the others. */
export const rowOrder = { otherRank: 1 << 30, mask: (1 << 30) - 1 } as const
export const nothingKept = 0x7fffffff

/** Rows of a batch; the i-th selected one is of group `groups[i]`. */
export interface OfferedRows {
  readonly rowCount: number
  readonly selection: Int32Array | undefined
  readonly groups: Int32Array
  /** One byte per row, 1 for preferred ones; undefined when none is. */
  readonly preferred: Uint8Array | undefined
}

export interface RowChoices {
  /** The number of the batch's first row; those of earlier batches are lower. */
  readonly first: number
  /** Bits that are turned over in numbers, so that the row that goes first has the lowest. */
  readonly flip: number
  readonly kept: Int32Array
}

/** Groups that an offer has given another row, in the order of the rows. */
export interface ChangedGroups {
  readonly rows: Int32Array
  readonly groups: Int32Array
  count: number
}

/**
 * Chooses between rows of one batch.
 *
 * @param changed takes the rows that groups have changed to
 * @param left takes the places among the selected of the rows that are left to the caller
 * @returns how many those are
 */
export function chooseRows(
  { rowCount, selection, groups, preferred }: OfferedRows,
  { first, flip, kept }: RowChoices,
  changed: ChangedGroups,
  left: Int32Array,
): number {
  const count = selection ? selection.length : rowCount
  if (![kept, left, changed.rows, changed.groups].every(isOfKernels)) {
    for (let i = 0; i < count; i++) left[i] = i
    return count
  }
  beginKernel()
  const found = kernels.chooseRows(
    place(groups, count),
    selection ? place(selection, count) : 0,
    preferred ? place(preferred, rowCount) : 0,
    count,
    first,
    flip,
    kept.byteOffset,
    left.byteOffset,
    changed.rows.byteOffset,
    changed.groups.byteOffset,
  )
  changed.count = found >>> 16
  return found & 0xffff
}
