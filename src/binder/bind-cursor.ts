import { AssayError } from '../error.ts'
import type { Query } from '../parser/ast.ts'
import { parseCursor, parsePaginationKey, type RowKey } from '../type/transaction.ts'
import type { BoundQuery, SortPosition } from './bound.ts'
import { parseCountCursor, parseSortCursor } from './sort-cursor.ts'

/**
 * What the cursor of an answer is made of. `key`: the pagination key of the last row; `traces`: that
 * of the last trace; `position`: the sort values of the last row; undefined: there are no pages.
 */
export type Paging = 'key' | 'traces' | 'position' | undefined

export function pagingOf({ source, output, unpivots, sort }: BoundQuery): Paging {
  if (output.kind !== 'rows' || unpivots.length > 0) return undefined
  if (source.kind === 'traces') return sort.length === 0 ? 'traces' : undefined
  if (source.kind !== 'objects' && source.kind !== 'summary') return undefined
  if (sort.length > 0) return 'position'
  // Versions of one record have one key.
  const isHistory = source.kind === 'objects' && source.objects.some((object) => object.isHistory)
  return isHistory ? undefined : 'key'
}

interface Pageable {
  /** Whether rows have keys, and no two of them one. */
  readonly isPageable: boolean
  readonly hasUnpivots: boolean
  readonly isTraces: boolean
  readonly sortKeys: number
}

/** Where a page begins. */
interface CursorPlace {
  readonly after: RowKey | undefined
  readonly afterSorted: SortPosition | undefined
  readonly rowsBefore: number
}

export function bindCursor(
  { cursor }: Query,
  { isPageable, hasUnpivots, isTraces, sortKeys }: Pageable,
): CursorPlace {
  const none = { after: undefined, afterSorted: undefined, rowsBefore: 0 }
  if (!cursor) return none
  if (!isPageable || hasUnpivots || (isTraces && sortKeys > 0)) {
    throw new AssayError('BIND_INVALID_OPTION', 'this query has no pages for a cursor', {
      span: cursor.span,
      hint: isTraces ? 'leave out sort' : 'page with offset or a sort, or ask for single records',
    })
  }
  if (sortKeys === 0) {
    const after = parseCursor(cursor.value) ?? parsePaginationKey(cursor.value)
    if (after) return { ...none, after }
  }
  const rowsBefore = sortKeys > 0 ? parseCountCursor(cursor.value) : undefined
  if (rowsBefore !== undefined) return { ...none, rowsBefore }
  const afterSorted = parseSortCursor(cursor.value)
  if (afterSorted && sortKeys > 0 && afterSorted.values.length === sortKeys) {
    return { ...none, afterSorted }
  }
  const isOther =
    afterSorted !== undefined ||
    parseCountCursor(cursor.value) !== undefined ||
    parseCursor(cursor.value) !== undefined
  const message = isOther ? 'the cursor is of another sort' : 'this is not a cursor'
  throw new AssayError('BIND_INVALID_OPTION', message, {
    span: cursor.span,
    hint: 'use the cursor of an earlier answer as it is, with the same sort',
  })
}
