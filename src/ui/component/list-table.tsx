/** A plain table of some lines, such as settings have: all of them in the document. */
import type { ComponentChildren } from 'preact'

export interface ListColumn<Item> {
  readonly title: string
  readonly isNumber?: boolean
  /** Left out where no line has anything in it. */
  readonly isOptional?: boolean
  readonly cell: (item: Item) => ComponentChildren
}

export interface ListTableProps<Item> {
  readonly label: string
  readonly columns: readonly ListColumn<Item>[]
  readonly items: readonly Item[]
  readonly itemId: (item: Item) => string
  /** What can be done with a line, as buttons at its end. */
  readonly actions?: ((item: Item) => ComponentChildren) | undefined
}

/** The first cell names its line. */
export function ListTable<Item>(props: ListTableProps<Item>) {
  const { label, items, itemId, actions } = props
  const columns = props.columns.filter(({ isOptional, cell }) => {
    return isOptional !== true || items.some((item) => cell(item))
  })
  return (
    <div class="list-table">
      <table aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : undefined}>
                {title}
              </th>
            ))}
            {actions && (
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={itemId(item)}>
              {columns.map(({ title, isNumber, cell }, place) =>
                place === 0 ? (
                  <th key={title} scope="row">
                    {cell(item)}
                  </th>
                ) : (
                  <td key={title} data-title={title} class={isNumber ? 'number' : undefined}>
                    <span class="value">{cell(item)}</span>
                  </td>
                ),
              )}
              {actions && <td class="actions">{actions(item)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** What can be done with a line: its name tells those who hear the page which one is meant. */
export function LineAction({
  verb,
  of,
  onChoose,
}: {
  readonly verb: string
  readonly of: string
  readonly onChoose: () => void
}) {
  return (
    <button type="button" aria-label={`${verb} ${of}`} onClick={onChoose}>
      {verb}
    </button>
  )
}
