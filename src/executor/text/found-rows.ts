/** Rows that a search in indexes has found. Sets of rows are never changed, so results may share them. */
import { intersectionOf, newRows, unionOf, without } from '../../kernel/row-sets.ts'
import { addBitmap } from '../../vector/row-bits.ts'
import type { RowSet } from '../../vector/row-set.ts'

export interface FoundRows {
  /** Rows that may have what was looked for. */
  readonly may: RowSet | 'all' | 'none'
  /** Those that are known to have it. */
  readonly sure: RowSet | 'none'
}

export const anyRow: FoundRows = { may: 'all', sure: 'none' }

export const noRow: FoundRows = { may: 'none', sure: 'none' }

export function mayBe(rows: RowSet): FoundRows {
  return { may: rows, sure: 'none' }
}

/** Rows of a bitmap, where undefined is all of them. */
export function rowsOfBitmap(bitmap: Uint8Array | undefined, rowCount: number): RowSet {
  const rows = newRows(rowCount)
  addBitmap(rows, bitmap, rowCount)
  return rows
}

/** Rows that are in all of the lists. */
export function foundInAll(lists: readonly FoundRows[]): FoundRows {
  const [only] = lists
  if (only && lists.length === 1) return only
  if (lists.every(isCertain)) {
    const rows = intersection(lists.map(({ may }) => may)) as RowSet
    return { may: rows, sure: rows }
  }
  const sure = lists.map((list) => list.sure)
  return {
    may: intersection(lists.map(({ may }) => may)),
    sure: sure.includes('none') ? 'none' : (intersection(sure) as RowSet),
  }
}

/** Rows that are in any of the lists. */
export function foundInAny(lists: readonly FoundRows[]): FoundRows {
  const some = lists.filter(({ may }) => may !== 'none')
  const [only] = some
  if (!only) return noRow
  if (some.length === 1) return only
  if (some.every(isCertain)) {
    const rows = union(some.map(({ may }) => may)) as RowSet
    return { may: rows, sure: rows }
  }
  return {
    may: union(some.map(({ may }) => may)),
    sure: union(some.map(({ sure }) => sure)) as RowSet | 'none',
  }
}

/**
 * Rows that do not have it.
 *
 * @param told those that either have it or not; others may be without it and yet not pass what asks for that
 */
export function foundInOthers(
  { may, sure }: FoundRows,
  told: RowSet | 'none',
  rowCount: number,
): FoundRows {
  const all = rowsOfBitmap(undefined, rowCount)
  const others = sure === 'none' ? all : without(all, sure)
  if (told === 'none' || may === 'all') return mayBe(others)
  return { may: others, sure: may === 'none' ? told : without(told, may) }
}

/** Whether rows that may have it are those that are known to. */
function isCertain({ may, sure }: FoundRows): boolean {
  return may === sure && may !== 'none'
}

/** Rows of which nothing is certain are among those that may, and not among the others. */
export function withDoubt({ may, sure }: FoundRows, doubtful: RowSet): FoundRows {
  return { may: union([may, doubtful]), sure: sure === 'none' ? sure : without(sure, doubtful) }
}

export function intersection(lists: readonly FoundRows['may'][]): FoundRows['may'] {
  if (lists.includes('none')) return 'none'
  const sets = lists.filter((list) => typeof list !== 'string')
  return sets.length === 0 ? 'all' : intersectionOf(sets)
}

export function union(lists: readonly FoundRows['may'][]): FoundRows['may'] {
  if (lists.includes('all')) return 'all'
  const sets = lists.filter((list) => typeof list !== 'string')
  return sets.length === 0 ? 'none' : unionOf(sets)
}
