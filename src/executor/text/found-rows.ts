/** Rows that a search in indexes has found. Sets of rows are never changed, so results may share them. */
import { addAll, addBitmap, keepOnly, noRows, type RowBits, remove } from '../../vector/row-bits.ts'

export interface FoundRows {
  /** Rows that may have what was looked for. */
  readonly may: RowBits | 'all' | 'none'
  /** Those that are known to have it. */
  readonly sure: RowBits | 'none'
}

export const anyRow: FoundRows = { may: 'all', sure: 'none' }

export const noRow: FoundRows = { may: 'none', sure: 'none' }

export function mayBe(rows: RowBits): FoundRows {
  return { may: rows, sure: 'none' }
}

/** Rows of a bitmap, where undefined is all of them. */
export function rowsOfBitmap(bitmap: Uint8Array | undefined, rowCount: number): RowBits {
  const rows = noRows(rowCount)
  addBitmap(rows, bitmap, rowCount)
  return rows
}

/** Rows that are in all of the lists. */
export function foundInAll(lists: readonly FoundRows[]): FoundRows {
  const [only] = lists
  if (only && lists.length === 1) return only
  if (lists.every(isCertain)) {
    const rows = intersection(lists.map(({ may }) => may)) as RowBits
    return { may: rows, sure: rows }
  }
  const sure = lists.map((list) => list.sure)
  return {
    may: intersection(lists.map(({ may }) => may)),
    sure: sure.includes('none') ? 'none' : (intersection(sure) as RowBits),
  }
}

/** Rows that are in any of the lists. */
export function foundInAny(lists: readonly FoundRows[]): FoundRows {
  const some = lists.filter(({ may }) => may !== 'none')
  const [only] = some
  if (!only) return noRow
  if (some.length === 1) return only
  if (some.every(isCertain)) {
    const rows = union(some.map(({ may }) => may)) as RowBits
    return { may: rows, sure: rows }
  }
  return {
    may: union(some.map(({ may }) => may)),
    sure: union(some.map(({ sure }) => sure)) as RowBits | 'none',
  }
}

/** Whether rows that may have it are those that are known to. */
function isCertain({ may, sure }: FoundRows): boolean {
  return may === sure && may !== 'none'
}

/** Rows of which nothing is certain are among those that may, and not among the others. */
export function withDoubt({ may, sure }: FoundRows, doubtful: RowBits): FoundRows {
  return { may: union([may, doubtful]), sure: without(sure, doubtful) }
}

export function without(rows: RowBits | 'none', others: RowBits): RowBits | 'none' {
  if (rows === 'none') return rows
  const left = rows.slice()
  remove(left, others)
  return left
}

export function intersection(lists: readonly FoundRows['may'][]): FoundRows['may'] {
  if (lists.includes('none')) return 'none'
  const [first, ...others] = lists.filter((list) => typeof list !== 'string')
  if (!first) return 'all'
  if (others.length === 0) return first
  const rows = first.slice()
  for (const other of others) keepOnly(rows, other)
  return rows
}

export function union(lists: readonly FoundRows['may'][]): FoundRows['may'] {
  if (lists.includes('all')) return 'all'
  const [first, ...others] = lists.filter((list) => typeof list !== 'string')
  if (!first) return 'none'
  if (others.length === 0) return first
  const rows = first.slice()
  for (const other of others) addAll(rows, other)
  return rows
}
