/** What the logs show, and in which order. */
import { changeView, type LogView } from './log-view.ts'

export function RowsChoice({ rowsAre }: Pick<LogView, 'rowsAre'>) {
  return (
    <select
      aria-label="Rows"
      value={rowsAre}
      onChange={(event) =>
        changeView({ rowsAre: event.currentTarget.value === 'spans' ? 'spans' : 'traces' })
      }
    >
      <option value="traces">Traces</option>
      <option value="spans">Spans</option>
    </select>
  )
}

/** Of rows that were found by words. */
export function OrderChoice({ order }: Pick<LogView, 'order'>) {
  return (
    <select
      aria-label="Order"
      value={order}
      onChange={(event) => {
        const chosen = event.currentTarget.value === 'relevance' ? 'relevance' : 'newest'
        changeView({ order: chosen, sort: undefined })
      }}
    >
      <option value="newest">Newest first</option>
      <option value="relevance">Best first</option>
    </select>
  )
}
