/** How far an answer has come, and the cursor that continues it. */
import { pagingOf } from '../../binder/bind-cursor.ts'
import type { BoundQuery, LastSorted } from '../../binder/bound.ts'
import { formatCountCursor, formatSortCursor } from '../../binder/sort-cursor.ts'
import { formatCursor, type RowKey } from '../../type/transaction.ts'

/** What has left so far. */
export interface AnswerProgress {
  rowCount: number
  last: RowKey | undefined
  lastSorted: LastSorted
  /** Pagination key that stands for the last trace of the page. */
  lastTrace: RowKey | undefined
  /** Columns that the data has named. */
  madeColumns: readonly string[]
}

export function newProgress(): AnswerProgress {
  return {
    rowCount: 0,
    last: undefined,
    lastSorted: undefined,
    lastTrace: undefined,
    madeColumns: [],
  }
}

/** The cursor of the page, where there may be a next one. */
export function cursorOf(
  bound: BoundQuery,
  { rowCount, last, lastSorted, lastTrace }: Omit<AnswerProgress, 'madeColumns'>,
): string | undefined {
  if (rowCount === 0) return undefined
  switch (pagingOf(bound)) {
    case 'key':
      return last && formatCursor(last)
    case 'traces':
      return lastTrace && formatCursor(lastTrace)
    case 'position':
      // Clients take a cursor for a promise of more: of other orders it is made where a page is full.
      if (!lastSorted || rowCount !== bound.limit) return undefined
      return lastSorted === 'long'
        ? formatCountCursor(bound.offset + rowCount)
        : formatSortCursor(lastSorted)
    case undefined:
      return undefined
  }
}
