import type { Column } from '../component/table.tsx'
import type { Row } from '../service/query.ts'
import type { ShownColumns } from './logs.tsx'

/** Which columns a table has. */
export function ColumnChoice({
  available,
  shown,
}: {
  readonly available: readonly Column<Row>[]
  readonly shown: ShownColumns
}) {
  return (
    <details class="menu">
      <summary>Columns</summary>
      <ul>
        {available.map(({ id, title }) => (
          <li key={id}>
            <label>
              <input
                type="checkbox"
                checked={shown.ids.has(id)}
                onChange={(event) => shown.choose(id, event.currentTarget.checked)}
              />{' '}
              {id.startsWith('metadata.') ? id : title}
            </label>
          </li>
        ))}
      </ul>
    </details>
  )
}
