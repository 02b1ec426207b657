/** Which rows of how many are shown, and the way to others. */
import { number } from './format.ts'

export interface PagesProps {
  /** From 1. */
  readonly page: number
  readonly pageSize: number
  readonly shown: number
  /** Undefined until it is known. */
  readonly total: number | undefined
  readonly what: string
  readonly onPage: (page: number) => void
}

export function Pages({ page, pageSize, shown, total, what, onPage }: PagesProps) {
  const first = (page - 1) * pageSize + 1
  const last = first + shown - 1
  const isLast = total === undefined ? shown < pageSize : last >= total
  return (
    <nav class="pages" aria-label="Pages">
      <button type="button" disabled={page === 1} onClick={() => onPage(page - 1)}>
        Previous
      </button>
      <span role="status">
        {shown === 0 ? `No ${what}` : `${number(first)} – ${number(last)}`}
        {total !== undefined && shown > 0 && ` of ${number(total)} ${what}`}
      </span>
      <button type="button" disabled={isLast} onClick={() => onPage(page + 1)}>
        Next
      </button>
    </nav>
  )
}
