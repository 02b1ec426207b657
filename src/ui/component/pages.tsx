/** Which rows of how many are shown, and the way to others. */
import { counted, number } from './format.ts'
import { Link } from './link.tsx'

export interface PagesProps {
  /** From 1. */
  readonly page: number
  readonly pageSize: number
  readonly shown: number
  /** Undefined until it is known. */
  readonly total: number | undefined
  /** One of them. */
  readonly what: string
  readonly onPage: (page: number) => void
  /** Where a page is found by itself. */
  readonly linkOf?: (page: number) => string
}

export function Pages({ page, pageSize, shown, total, what, onPage, linkOf }: PagesProps) {
  const first = (page - 1) * pageSize + 1
  const last = first + shown - 1
  const isLast = total === undefined ? shown < pageSize : last >= total
  const ofAll = total === undefined ? '' : ` of ${counted(total, what)}`
  const range = `${number(first)} – ${number(last)}${ofAll}`
  const step = (title: string, to: number, isEnd: boolean) =>
    isEnd || !linkOf ? (
      <button type="button" disabled={isEnd} onClick={() => onPage(to)}>
        {title}
      </button>
    ) : (
      <Link class="button" to={linkOf(to)}>
        {title}
      </Link>
    )
  const isOnly = page === 1 && isLast
  return (
    <nav class="pages" aria-label="Pages">
      {!isOnly && step('Previous', page - 1, page === 1)}
      <span role="status">
        {isOnly ? counted(shown, what) : shown === 0 ? `No ${what}s` : range}
      </span>
      {!isOnly && step('Next', page + 1, isLast)}
    </nav>
  )
}
