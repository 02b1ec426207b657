import { useState } from 'preact/hooks'
import { Icon } from '../component/icon.tsx'
import { Popover } from '../component/popover.tsx'
import { type LogColumn, memberOf } from './log-columns.tsx'
import type { ShownColumns } from './shown-columns.ts'

/** Which columns the table has, and in what order. */
export function ColumnChoice({
  available,
  shown,
}: {
  readonly available: readonly LogColumn[]
  readonly shown: ShownColumns
}) {
  const [wanted, setWanted] = useState('')
  const chosen = shown.ids.flatMap((id) => available.filter((each) => each.id === id))
  const others = available.filter(({ id }) => !shown.ids.includes(id))
  const isWanted = (column: LogColumn) => {
    return nameOf(column).toLowerCase().includes(wanted.toLowerCase())
  }
  return (
    <Popover label="Columns">
      <div class="column-choice">
        <input
          type="search"
          placeholder="Find, or metadata.name"
          aria-label="Find a column"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
        <ul>
          {chosen.filter(isWanted).map((column) => {
            const place = shown.ids.indexOf(column.id)
            const name = nameOf(column)
            return (
              <li key={column.id}>
                <Box column={column} isShown={true} choose={shown.choose} />
                <button
                  type="button"
                  class="plain"
                  aria-label={`Move ${name} to the left`}
                  disabled={place === 0}
                  onClick={() => shown.move(column.id, shown.ids[place - 1])}
                >
                  <Icon name="arrow-up" />
                </button>
                <button
                  type="button"
                  class="plain"
                  aria-label={`Move ${name} to the right`}
                  disabled={place === shown.ids.length - 1}
                  onClick={() => shown.move(column.id, shown.ids[place + 2])}
                >
                  <Icon name="arrow-down" />
                </button>
              </li>
            )
          })}
          {others.filter(isWanted).map((column) => (
            <li key={column.id}>
              <Box column={column} isShown={false} choose={shown.choose} />
            </li>
          ))}
        </ul>
        {memberOf(wanted) && !available.some(({ id }) => id === wanted) && (
          <button type="button" onClick={() => shown.choose(wanted, true)}>
            Add {wanted}
          </button>
        )}
        <button type="button" onClick={shown.reset}>
          Reset columns
        </button>
      </div>
    </Popover>
  )
}

function Box({
  column,
  isShown,
  choose,
}: {
  readonly column: LogColumn
  readonly isShown: boolean
  readonly choose: ShownColumns['choose']
}) {
  return (
    <label>
      <input
        type="checkbox"
        checked={isShown}
        onChange={(event) => choose(column.id, event.currentTarget.checked)}
      />{' '}
      {nameOf(column)}
    </label>
  )
}

/** What is metadata says so, since a field may be called as a score is. */
function nameOf({ id, title }: LogColumn): string {
  return id.startsWith('metadata.') ? id : title
}
