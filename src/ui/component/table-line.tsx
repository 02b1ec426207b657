/** One row of a table; drawn again only if something of it is another. */
import { Component } from 'preact'
import { base } from '../state/location.ts'
import type { Column } from './table-column.ts'

export interface LineProps<Row> {
  readonly index: number
  /** Undefined while it is being loaded. */
  readonly row: Row | undefined
  readonly columns: readonly Column<Row>[]
  /** Where the row leads, if it leads anywhere. */
  readonly to: string | undefined
  readonly isOpen: boolean
  /** The keyboard is at this row. */
  readonly isActive: boolean
  readonly isNew: boolean
  /** Undefined where rows cannot be chosen. */
  readonly isChosen: boolean | undefined
}

/** In pixels: texts of narrow letters have such on average. */
const narrowestCharacter = 4

export class Line<Row> extends Component<LineProps<Row>> {
  override shouldComponentUpdate(next: LineProps<Row>): boolean {
    const { props } = this
    return (Object.keys(next) as (keyof LineProps<Row>)[]).some(
      (name) => next[name] !== props[name],
    )
  }

  override render({ index, row, columns, to, isOpen, isActive, isNew, isChosen }: LineProps<Row>) {
    const place = { 'data-index': index, 'aria-rowindex': index + 2 }
    if (row === undefined) {
      const width = columns.length + (isChosen === undefined ? 1 : 2)
      return (
        <tr {...place} class="waiting">
          <td colSpan={width}>…</td>
        </tr>
      )
    }
    const state = [isActive ? 'active' : '', isNew ? 'new' : ''].join(' ').trim()
    return (
      <tr {...place} aria-selected={isOpen} class={state}>
        {isChosen !== undefined && (
          <td class="choice">
            <input type="checkbox" checked={isChosen} aria-label={`Select row ${index + 1}`} />
          </td>
        )}
        {columns.map((column, i) => {
          const content = column.cell(row, Math.ceil(column.width / narrowestCharacter))
          return (
            <td
              key={column.id}
              class={column.isNumber ? 'number' : undefined}
              title={column.hint?.(row)}
            >
              {i === 0 && to !== undefined ? (
                // What a click on it does is for the table.
                <a class="opens" href={base + to} tabIndex={isActive ? 0 : -1}>
                  {content}
                </a>
              ) : i === 0 ? (
                <button type="button" class="plain opens" tabIndex={isActive ? 0 : -1}>
                  {content}
                </button>
              ) : (
                content
              )}
            </td>
          )
        })}
        <td />
      </tr>
    )
  }
}
