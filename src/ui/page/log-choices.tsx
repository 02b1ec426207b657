/** What the logs show, and in which order. */
import { Select } from '../component/select.tsx'
import { changeView, type LogView } from './log-view.ts'

export function RowsChoice({ rowsAre }: Pick<LogView, 'rowsAre'>) {
  return (
    <Select
      label="Rows"
      value={rowsAre}
      options={[
        { value: 'traces', label: 'Traces' },
        { value: 'spans', label: 'Spans' },
      ]}
      onChange={(value) => changeView({ rowsAre: value === 'spans' ? 'spans' : 'traces' })}
    />
  )
}

/** Of rows that were found by words. */
export function OrderChoice({ order }: Pick<LogView, 'order'>) {
  return (
    <Select
      label="Order"
      value={order}
      options={[
        { value: 'newest', label: 'Newest first' },
        { value: 'relevance', label: 'Best first' },
      ]}
      onChange={(value) => {
        const chosen = value === 'relevance' ? 'relevance' : 'newest'
        changeView({ order: chosen, sort: undefined })
      }}
    />
  )
}
