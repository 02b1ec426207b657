/** Rows that a search in indexes has found. */
import { addAll, addBitmap, keepOnly, noRows, type RowBits, remove } from '../vector/row-bits.ts'

export interface FoundRows {
  /** Rows that may have what was looked for; undefined: all. */
  readonly may: RowBits | undefined
  /** Those that have it for certain; undefined: none is known. */
  readonly sure: RowBits | undefined
}

export const anyRow: FoundRows = { may: undefined, sure: undefined }

export function nothing(rowCount: number): FoundRows {
  return { may: noRows(rowCount), sure: undefined }
}

/** Rows of a bitmap, where undefined is all of them. */
export function rowsOfBitmap(bitmap: Uint8Array | undefined, rowCount: number): RowBits {
  const rows = noRows(rowCount)
  addBitmap(rows, bitmap, rowCount)
  return rows
}

/** Rows that are in all of the lists. */
export function foundInAll(lists: readonly FoundRows[]): FoundRows {
  return {
    may: intersection(lists.flatMap(({ may }) => (may ? [may] : []))),
    sure: lists.every(({ sure }) => sure)
      ? intersection(lists.map(({ sure }) => sure!))
      : undefined,
  }
}

/** Rows that are in any of the lists. */
export function foundInAny(lists: readonly FoundRows[], rowCount: number): FoundRows {
  const sure = lists.flatMap((list) => list.sure ?? [])
  return {
    may: lists.every(({ may }) => may)
      ? union(
          lists.map(({ may }) => may!),
          rowCount,
        )
      : undefined,
    sure: sure.length > 0 ? union(sure, rowCount) : undefined,
  }
}

/** Rows of which nothing is certain are among those that may, and not among the others. */
export function withDoubt({ may, sure }: FoundRows, doubtful: RowBits): FoundRows {
  if (may) addAll(may, doubtful)
  if (sure) remove(sure, doubtful)
  return { may, sure }
}

function intersection(lists: readonly RowBits[]): RowBits | undefined {
  const [first, ...others] = lists
  if (!first) return undefined
  const rows = first.slice()
  for (const other of others) keepOnly(rows, other)
  return rows
}

function union(lists: readonly RowBits[], rowCount: number): RowBits {
  const rows = noRows(rowCount)
  for (const list of lists) addAll(rows, list)
  return rows
}
