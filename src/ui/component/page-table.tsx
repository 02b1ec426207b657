/** A table of the rows of one page, all of them in the document: sorted by its heads, chosen, opened. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { base, goTo } from '../state/location.ts'
import { isForBrowser } from './link.tsx'
import { useStepKeys } from './step-keys.ts'

export interface PageColumn<Row> {
  readonly id: string
  readonly title: string
  /** In pixels. */
  readonly width: number
  readonly isNumber?: boolean
  readonly cell: (row: Row) => ComponentChildren
  readonly hint?: (row: Row) => string
  /** The direction of a first click on the head; without it the table is not sorted by this. */
  readonly sorts?: 'asc' | 'desc'
}

/** `{ id: 'created', isDescending: true }` */
export interface Order {
  readonly id: string
  readonly isDescending: boolean
}

/** In a URL: `created`, or `-created` for descending. */
export function readOrder(text: string | undefined): Order | undefined {
  if (text === undefined || text === '') return undefined
  const isDescending = text.startsWith('-')
  return { id: isDescending ? text.slice(1) : text, isDescending }
}

export function writeOrder({ id, isDescending }: Order): string {
  return isDescending ? `-${id}` : id
}

export interface PageTableProps<Row> {
  readonly label: string
  readonly columns: readonly PageColumn<Row>[]
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
  readonly openId?: string | undefined
  readonly onOpen?: (row: Row) => void
  /** Where a row leads: its first cell is a link then. */
  readonly linkOf?: (row: Row) => string
  /** Goes on to a row while another is open; what opens one does otherwise. */
  readonly onStep?: (row: Row) => void
  readonly order?: Order | undefined
  readonly onOrder?: (order: Order) => void
  readonly chosen?: ReadonlySet<string>
  readonly onChoose?: (ids: ReadonlySet<string>) => void
  /** What a row is called by the box that chooses it. */
  readonly rowName?: (row: Row) => string
  /** Cells of several lines. */
  readonly isTall?: boolean
  readonly foot?: ComponentChildren
}

export function PageTable<Row>(props: PageTableProps<Row>) {
  const { label, columns, rows, rowId, openId, order, onOrder, linkOf } = props
  const onOpen = props.onOpen ?? (linkOf && ((row: Row) => goTo(linkOf(row))))
  const { chosen, onChoose, rowName = rowId, isTall = false, foot } = props
  const drawn = useDrawn(rows, isTall)
  const width = columns.reduce((sum, column) => sum + column.width, onChoose ? boxWidth : 0)
  const ids = rows.map(rowId)
  const hasAll = chosen !== undefined && ids.length > 0 && ids.every((id) => chosen.has(id))
  useStepKeys(props.onOpen && openId, (from, by) => {
    const here = ids.indexOf(from)
    const next = here < 0 ? undefined : rows[here + by]
    if (next === undefined) return undefined
    ;(props.onStep ?? onOpen)?.(next)
    return rowId(next)
  })
  const lastChosen = useRef(0)
  /** With Shift, all from the one that was chosen before. */
  const chooseRow = (index: number, isRange: boolean) => {
    const [from, to] = isRange ? [lastChosen.current, index].sort((a, b) => a - b) : [index, index]
    lastChosen.current = index
    choose(ids.slice(from, to! + 1), !chosen?.has(ids[index]!))
  }
  const choose = (some: readonly string[], isChosen: boolean) => {
    const next = new Set(chosen)
    for (const id of some) {
      if (isChosen) next.add(id)
      else next.delete(id)
    }
    onChoose?.(next)
  }
  return (
    <div class={isTall ? 'page-table tall' : 'page-table'}>
      <table aria-label={label} style={{ minWidth: `${width}px` }}>
        <thead>
          <tr>
            {onChoose && (
              <th scope="col" class="box" style={{ width: `${boxWidth}px` }}>
                <input
                  type="checkbox"
                  aria-label="Choose all"
                  checked={hasAll}
                  onChange={(event) => choose(ids, event.currentTarget.checked)}
                />
              </th>
            )}
            {columns.map((column) => (
              <Head key={column.id} column={column} order={order} onOrder={onOrder} />
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={moveByKeys}>
          {drawn.map((row, index) => {
            const id = rowId(row)
            return (
              // A click anywhere in the row opens it; the keyboard has the button in its first cell.
              <tr
                key={id}
                data-index={index}
                aria-selected={openId === undefined ? undefined : id === openId}
                onClick={(event) => {
                  if (isControl(event.target)) return
                  if (linkOf && (event.ctrlKey || event.metaKey)) window.open(base + linkOf(row))
                  else onOpen?.(row)
                }}
              >
                {onChoose && (
                  <td class="box">
                    <input
                      type="checkbox"
                      aria-label={`Choose ${rowName(row)}`}
                      checked={chosen?.has(id) ?? false}
                      onClick={(event) => chooseRow(index, event.shiftKey)}
                    />
                  </td>
                )}
                {columns.map((column, place) => (
                  <td
                    key={column.id}
                    class={column.isNumber ? 'number' : undefined}
                    title={column.hint?.(row)}
                  >
                    {place === 0 && linkOf ? (
                      <a
                        class="open"
                        href={base + linkOf(row)}
                        onClick={(event) => {
                          if (isForBrowser(event)) return
                          event.preventDefault()
                          onOpen?.(row)
                        }}
                      >
                        {column.cell(row)}
                      </a>
                    ) : place === 0 && onOpen ? (
                      <button type="button" class="plain open" onClick={() => onOpen(row)}>
                        {column.cell(row)}
                      </button>
                    ) : (
                      column.cell(row)
                    )}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
      {foot !== undefined && <div class="table-foot">{foot}</div>}
    </div>
  )
}

const boxWidth = 36

/** More rows of several lines than a screen has room for. */
const firstDrawn = 15

/** What is in sight is drawn first: cells of several lines take their time. */
function useDrawn<Row>(rows: readonly Row[], isTall: boolean): readonly Row[] {
  const [whole, setWhole] = useState<readonly Row[]>()
  useEffect(() => {
    if (!isTall || rows.length <= firstDrawn) return
    const timer = window.setTimeout(() => setWhole(rows))
    return () => window.clearTimeout(timer)
  }, [rows, isTall])
  return isTall && whole !== rows ? rows.slice(0, firstDrawn) : rows
}

function Head<Row>({
  column,
  order,
  onOrder,
}: {
  readonly column: PageColumn<Row>
  readonly order: Order | undefined
  readonly onOrder: ((order: Order) => void) | undefined
}) {
  const { id, title, width, isNumber, sorts } = column
  const isSorted = order?.id === id
  const direction = isSorted ? (order.isDescending ? 'descending' : 'ascending') : 'none'
  const sort = () => {
    onOrder?.({ id, isDescending: isSorted ? !order.isDescending : sorts === 'desc' })
  }
  return (
    <th
      scope="col"
      class={isNumber ? 'number' : undefined}
      style={{ width: `${width}px` }}
      title={title}
      aria-sort={sorts && onOrder ? direction : undefined}
    >
      {sorts && onOrder ? (
        <button type="button" class="plain sort" onClick={sort}>
          {title}
          <span aria-hidden="true">{isSorted ? (order.isDescending ? ' ↓' : ' ↑') : ''}</span>
        </button>
      ) : (
        title
      )}
    </th>
  )
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('a, button, input, textarea, select') !== null
}

const steps: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + 10,
  PageUp: (at) => at - 10,
  Home: () => 0,
  End: (_, last) => last,
}

/** What can have the focus in a cell. */
const controls = '.open, .cell, [type=checkbox]'

/** Up and down within a column, left and right within a row. */
function moveByKeys(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const { key, target, currentTarget } = event
  if (!(target instanceof HTMLElement) || !target.matches(controls)) return
  const line = target.closest('tr')
  const cell = target.closest('td')
  if (!line || !cell) return
  const step = steps[key]
  if (step) {
    const lines = [...currentTarget.querySelectorAll('tr')]
    const last = lines.length - 1
    const next = lines[Math.max(0, Math.min(last, step(lines.indexOf(line), last)))]
    event.preventDefault()
    next?.cells[cell.cellIndex]?.querySelector<HTMLElement>(controls)?.focus()
  } else if (key === 'ArrowRight' || key === 'ArrowLeft') {
    const inLine = [...line.querySelectorAll<HTMLElement>(controls)]
    event.preventDefault()
    inLine[inLine.indexOf(target) + (key === 'ArrowRight' ? 1 : -1)]?.focus()
  }
}
