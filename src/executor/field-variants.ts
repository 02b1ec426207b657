/** Divides rows by where a field has its value in each, so that each part can be read in place. */
import { anyBit } from '../kernel/bitmap.ts'
import { newCodes } from '../kernel/memory.ts'
import { rowsOf, type Selection, type Vector } from '../vector/vector.ts'
import type { FieldVariant } from './batch.ts'
import { selectPresent, selectPresentWithin } from './select-present.ts'

/** A column, or another place, that has the field in some rows. */
export interface VariantSource {
  /** A bitmap over the column set of the rows that have it there. */
  readonly bits?: Uint8Array | 'all'
  /** Of a place without a bitmap: which of the selected rows are to be looked at. */
  among?(selection: Selection): Int32Array
  /** The values of a batch, of which only those rows count, and only those that are given. */
  read(rows: Selection): Vector
  /** The values of these rows alone; absent where they can only be read in place. */
  pack?(rows: Int32Array): Vector
}

/** Of a batch with this many times as many rows, those of a variant are packed. */
const rowsPerPacked = 4

/** Gives the parts of a selection that have rows. In all other rows the field is null. */
export type SplitVariants = (selection: Selection) => readonly FieldVariant[]

/** @param sources no two have a row in their bitmaps; those without one have rows that none has */
export function splitVariants(
  sources: readonly VariantSource[],
  from: number,
  count: number,
): SplitVariants {
  const vectors: Vector[] = []
  const bitmaps = sources.flatMap(({ bits }) =>
    bits && bits !== 'all' && anyBit(bits, from, count) ? [bits] : [],
  )
  const isWhole = sources.some(({ bits }) => bits === 'all')
  const select = (bits: readonly Uint8Array[], isPresent: boolean, selection: Selection) => {
    const presence = { bitmaps: bits, first: from }
    const out = newCodes(selection ? selection.length : count)
    const selected = selection
      ? selectPresentWithin(presence, isPresent, selection, out)
      : selectPresent(presence, isPresent, count, out)
    return out.subarray(0, selected)
  }
  const rowsIn = ({ bits, among }: VariantSource, selection: Selection): Int32Array | undefined => {
    if (bits === 'all') return rowsOf(selection, count)
    if (bits) return bitmaps.includes(bits) ? select([bits], true, selection) : undefined
    return among && !isWhole ? select(bitmaps, false, among(selection)) : undefined
  }
  return (selection) => {
    const total = selection ? selection.length : count
    const variants: FieldVariant[] = []
    for (const [i, source] of sources.entries()) {
      const own = rowsIn(source, selection)
      if (!own || own.length === 0) continue
      if (source.pack && own.length * rowsPerPacked < count) {
        variants.push({ rows: own, vector: source.pack(own), isPacked: true })
        continue
      }
      const rows = own.length === total ? selection : own
      vectors[i] ??= source.read(rows)
      variants.push({ rows, vector: vectors[i], isPacked: false })
    }
    return variants
  }
}
