/** Divides rows by where a field has its value in each, so that each part can be read in place. */

import { newCodes } from '../../kernel/arena.ts'
import { anyBit } from '../../kernel/bitmap.ts'
import { type DictionaryEntries, rowsOf, type Selection, type Vector } from '../../vector/vector.ts'
import {
  type Encoding,
  type FieldPart,
  type FieldVariant,
  type PartKind,
  unread,
} from '../expression/batch.ts'
import { selectPresent, selectPresentWithin } from './select-present.ts'

/** A column, or another place, that has the field in some rows. */
export interface VariantSource {
  readonly kind: PartKind
  /** A bitmap over the column set of the rows that have it there. */
  readonly bits?: Uint8Array | 'all'
  /** Of a place without a bitmap: which of the selected rows are to be looked at. */
  among?(selection: Selection): Int32Array
  /** Whether that costs no more than to ask which rows are told elsewhere. */
  readonly isCheap?: boolean
  /** The distinct values, where rows have codes of them. */
  readonly entries?: DictionaryEntries | undefined
  /** Absent: unread. */
  readonly encoding?: Encoding
  /** The values of a batch, of which only those rows count, and only those that are given. */
  read(rows: Selection): Vector
  /** The values of these rows alone; absent where they can only be read in place. */
  pack?(rows: Int32Array): Vector
}

/** Of a batch with this many times as many rows, those of a variant are packed. */
const rowsPerPacked = 4

/**
 * The parts of a batch, without those that have no row in it.
 *
 * @param sources no two have a row in their bitmaps; those without one have rows that none has
 * @param nulls rows that say that they have null
 */
export function partsOf(
  sources: readonly VariantSource[],
  nulls: Uint8Array | undefined,
  from: number,
  count: number,
): readonly FieldPart[] {
  const isIn = (bits: Uint8Array) => anyBit(bits, from, count)
  const present = sources.filter(({ bits }) => !bits || bits === 'all' || isIn(bits))
  const isWhole = present.some(({ bits }) => bits === 'all')
  const select = (bitmaps: readonly Uint8Array[], isPresent: boolean, selection: Selection) => {
    const presence = { bitmaps, first: from }
    const out = newCodes(selection ? selection.length : count)
    const selected = selection
      ? selectPresentWithin(presence, isPresent, selection, out)
      : selectPresent(presence, isPresent, count, out)
    return out.subarray(0, selected)
  }
  const parts: FieldPart[] = []
  for (const source of present) {
    const { kind, bits, among, entries, encoding = unread } = source
    if (!bits && isWhole) continue
    const rowsIn = (selection: Selection): Int32Array => {
      if (bits === 'all') return rowsOf(selection, count)
      if (bits) return select([bits], true, selection)
      // What stands in a column, or says that it is null, stands nowhere else.
      const told = present.flatMap((other) => (other.bits ? [other.bits as Uint8Array] : []))
      if (nulls && isIn(nulls)) told.push(nulls)
      if (told.length === 0) return among!(selection)
      if (source.isCheap) {
        const rows = among!(selection)
        return rows.length === 0 ? rows : select(told, false, rows)
      }
      const left = select(told, false, selection)
      return left.length === 0 ? left : among!(left)
    }
    let vector: Vector | undefined
    const read = (rows: Int32Array): FieldVariant => {
      if (source.pack && rows.length * rowsPerPacked < count) {
        return { rows, vector: source.pack(rows), isPacked: true }
      }
      const selection = rows.length === count ? undefined : rows
      vector ??= source.read(selection)
      return { rows: selection, vector, isPacked: false }
    }
    parts.push({ kind, encoding, entries, rowsIn, read })
  }
  return parts
}
