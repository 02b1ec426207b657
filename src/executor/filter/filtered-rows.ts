/** Rows of a batch that are kept, told as it costs least: whoever takes them asks for the form that it needs. */

import { newBytes, newCodes } from '../../kernel/arena.ts'
import { countKept } from '../../kernel/mask.ts'
import { countStored, type IntegerRange, maskStored } from '../../kernel/narrow-mask.ts'
import { selectTrue } from '../../kernel/select.ts'
import type { Selection } from '../../vector/vector.ts'
import type { Presence, StoredField } from '../expression/batch.ts'
import { countPresent, maskPresent, selectPresent } from '../field/select-present.ts'

export type FilteredRows =
  /** One after the other; undefined: all. */
  | { readonly kind: 'rows'; readonly rows: Selection }
  /** A byte per row, 1 where it is kept. */
  | { readonly kind: 'mask'; readonly mask: Uint8Array; readonly count: number }
  | ToldRows

/** Those that a column tells, of a batch of any length. */
export type ToldRows =
  /** Whose number, as it is stored, is in a range. */
  | { readonly kind: 'range'; readonly stored: StoredField; readonly range: IntegerRange }
  /** That bitmaps have, or have not. */
  | { readonly kind: 'presence'; readonly presence: Presence; readonly isPresent: boolean }

/** Rows of which nothing is known but how many they are. */
export interface RowCount {
  readonly kind: 'count'
  readonly count: number
}

export const allRows: FilteredRows = { kind: 'rows', rows: undefined }

/** How many rows are selected. */
export function selectedCount(selection: Selection, rowCount: number): number {
  return selection ? selection.length : rowCount
}

export function countFiltered(kept: FilteredRows | RowCount, rowCount: number): number {
  switch (kept.kind) {
    case 'rows':
      return selectedCount(kept.rows, rowCount)
    case 'range':
      return countStored(kept.stored, kept.range)
    case 'presence':
      return countPresent(kept.presence, kept.isPresent, rowCount)
    default:
      return kept.count
  }
}

/** As a mask, if they are not listed yet: for who takes that in place of a list, if they are many. */
export function asMask(kept: FilteredRows, rowCount: number): FilteredRows {
  if (kept.kind === 'rows' || kept.kind === 'mask') return kept
  const mask = newBytes(rowCount)
  if (kept.kind === 'range') maskStored(kept.stored, kept.range, mask)
  else maskPresent(kept.presence, kept.isPresent, rowCount, mask)
  return { kind: 'mask', mask, count: countKept(mask, rowCount) }
}

/** The rows one after the other, of a batch that is no longer than masks are. */
export function asSelection(kept: FilteredRows, rowCount: number): Selection {
  switch (kept.kind) {
    case 'rows':
      return kept.rows
    case 'range': {
      const mask = newBytes(rowCount)
      maskStored(kept.stored, kept.range, mask)
      return listMask(mask, rowCount)
    }
    case 'presence': {
      const out = newCodes(rowCount)
      const count = selectPresent(kept.presence, kept.isPresent, rowCount, out)
      return count === rowCount ? undefined : out.subarray(0, count)
    }
    case 'mask':
      return listMask(kept.mask, rowCount)
  }
}

function listMask(mask: Uint8Array, rowCount: number): Selection {
  const out = newCodes(rowCount)
  const count = selectTrue(mask, rowCount, out)
  return count === rowCount ? undefined : out.subarray(0, count)
}
