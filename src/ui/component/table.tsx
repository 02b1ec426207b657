/** A table of any number of rows, of which only those in sight are in the document. */
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isForBrowser } from './link.tsx'
import type { Column } from './table-column.ts'
import { HeadCells, type Sort } from './table-head.tsx'
import { Line } from './table-line.tsx'
import { useSight } from './table-sight.ts'

/** Rows by their place, as a list has them; undefined stands for one that is not loaded yet. */
export interface Rows<Row> {
  readonly length: number
  at(index: number): Row | undefined
}

/** Rows that are chosen to do something with, by their ids. */
export interface Selection {
  readonly ids: ReadonlySet<string>
  onChange(ids: ReadonlySet<string>): void
}

export interface TableProps<Row> {
  readonly label: string
  /** The same list as long as the columns are the same: rows are drawn again for another one. */
  readonly columns: readonly Column<Row>[]
  readonly rows: Rows<Row>
  readonly rowId: (row: Row) => string
  readonly openId?: string | undefined
  /** By a click anywhere in the row that is on no control, or by Enter. */
  readonly onOpen?: ((row: Row, index: number) => void) | undefined
  /** The address of what a row opens: its first cell is a link then. */
  readonly linkOf?: ((row: Row) => string) | undefined
  /** The place of a row that is brought into sight when this changes. */
  readonly revealed?: number | undefined
  /** Rows that came while one was looking. */
  readonly newIds?: ReadonlySet<string> | undefined
  /** Rows that are in sight now, the last one not included. */
  readonly onSight?: ((first: number, last: number) => void) | undefined
  /** The end of the rows came into sight. */
  readonly onEnd?: (() => void) | undefined
  readonly sort?: Sort | undefined
  /** The title of a column that can be sorted by was pressed. */
  readonly onSort?: ((column: string) => void) | undefined
  readonly onResize?: ((column: string, width: number) => void) | undefined
  /** Puts a column before another one, or last. */
  readonly onMove?: ((column: string, before: string | undefined) => void) | undefined
  readonly selection?: Selection | undefined
  readonly foot?: ComponentChildren
}

/** How near to the end the next rows are asked for. */
const aheadOfEnd = 12
const choiceWidth = 36
const controls = 'a, button, input, select, textarea, label, summary'

export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, rowId, openId, newIds, selection, onResize, foot } = props
  const viewport = useRef<HTMLDivElement>(null)
  const sight = useSight(viewport, rows.length)
  const [active, setActive] = useState(0)
  const [dragged, setDragged] = useState<{ readonly column: string; readonly width: number }>()
  const takesFocus = useRef(false)
  // Keys may come faster than the table is drawn.
  const activeNow = useRef(0)
  const lastChosen = useRef(0)
  const latest = useRef(props)
  latest.current = props

  const { first, last } = sight
  // What comes in next must know whether one has scrolled.
  useLayoutEffect(() => latest.current.onSight?.(first, last), [first, last, rows])
  useEffect(() => {
    if (last >= rows.length - aheadOfEnd && rows.length > 0) latest.current.onEnd?.()
  }, [last, rows.length])
  useEffect(() => {
    if (props.revealed === undefined || props.revealed < 0) return
    activeNow.current = props.revealed
    setActive(props.revealed)
    sight.reveal(props.revealed)
  }, [props.revealed])

  const move = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to))
    takesFocus.current = true
    activeNow.current = next
    setActive(next)
    sight.reveal(next)
  }
  useLayoutEffect(() => {
    if (!takesFocus.current) return
    if (focusRow(viewport.current, active)) takesFocus.current = false
  }, [active, sight.from, rows])

  // What was open is closed, and took the focus with it: it goes back to its row.
  const wasOpen = useRef(openId)
  useLayoutEffect(() => {
    const isClosed = wasOpen.current !== undefined && openId === undefined
    wasOpen.current = openId
    if (isClosed && document.activeElement === document.body) {
      focusRow(viewport.current, activeNow.current)
    }
  }, [openId])

  const page = Math.max(1, last - first - 3)
  const onKeyDown = (event: KeyboardEvent) => {
    const opener = event.target instanceof Element && event.target.matches('.opens')
    if (!opener || event.ctrlKey || event.metaKey || event.altKey) return
    const steps: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(activeNow.current + 1),
      ArrowUp: () => move(activeNow.current - 1),
      PageDown: () => move(activeNow.current + page),
      PageUp: () => move(activeNow.current - page),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      ...(selection && { ' ': () => choose(activeNow.current, event.shiftKey) }),
    }
    const taken = steps[event.key]
    if (!taken) return
    event.preventDefault()
    taken()
  }
  const onClick = (event: MouseEvent) => {
    const { target } = event
    if (!(target instanceof Element)) return
    const index = indexOf(target)
    if (index === undefined) return
    if (target.matches('.choice, .choice input')) {
      choose(index, event.shiftKey)
      return
    }
    const control = target.closest(controls)
    if (control?.matches('a.opens')) {
      if (isForBrowser(event)) return
      event.preventDefault()
    }
    if (control && !control.matches('.opens')) return
    // Text of a cell is being selected.
    if (!control && !(getSelection()?.isCollapsed ?? true)) return
    const row = rows.at(index)
    if (row === undefined) return
    activeNow.current = index
    setActive(index)
    props.onOpen?.(row, index)
  }
  const choose = (index: number, isRange: boolean) => {
    if (!selection) return
    const row = rows.at(index)
    if (row === undefined) return
    const next = new Set(selection.ids)
    const isAdded = !next.has(rowId(row))
    const from = isRange ? Math.min(lastChosen.current, index) : index
    const to = isRange ? Math.max(lastChosen.current, index) : index
    for (let i = from; i <= to; i++) {
      const each = rows.at(i)
      if (each === undefined) continue
      if (isAdded) next.add(rowId(each))
      else next.delete(rowId(each))
    }
    lastChosen.current = index
    selection.onChange(next)
  }

  const shown = dragged
    ? columns.map((each) => (each.id === dragged.column ? { ...each, ...dragged } : each))
    : columns
  const width = shown.reduce((sum, each) => sum + each.width, selection ? choiceWidth : 0)
  const lines = []
  for (let index = sight.from; index < sight.to; index++) {
    const row = rows.at(index)
    const id = row === undefined ? undefined : rowId(row)
    lines.push(
      <Line
        key={id ?? `row ${index}`}
        index={index}
        row={row}
        columns={columns}
        to={row === undefined ? undefined : props.linkOf?.(row)}
        isOpen={id !== undefined && id === openId}
        isActive={index === active}
        isNew={id !== undefined && newIds?.has(id) === true}
        isChosen={selection && id !== undefined && selection.ids.has(id)}
      />,
    )
  }
  return (
    <div class="table" ref={viewport}>
      <table aria-label={label} aria-rowcount={rows.length + 1} style={{ width: `${width}px` }}>
        <thead>
          <tr>
            {selection && (
              <th scope="col" class="choice" style={{ width: `${choiceWidth}px` }}>
                <ChooseAll rows={rows} rowId={rowId} selection={selection} />
              </th>
            )}
            <HeadCells
              columns={shown}
              sort={props.sort}
              onSort={props.onSort}
              onResize={onResize}
              onMove={props.onMove}
              onDrag={setDragged}
            />
            <td class="rest" />
          </tr>
        </thead>
        <tbody onClick={onClick} onKeyDown={onKeyDown}>
          <Gap height={sight.above} />
          {lines}
          <Gap height={sight.below} />
        </tbody>
      </table>
      {foot !== undefined && <div class="table-foot">{foot}</div>}
    </div>
  )
}

/** False while the row is not drawn. */
function focusRow(table: HTMLElement | null, index: number): boolean {
  const button = table?.querySelector<HTMLElement>(`tr[data-index="${index}"] .opens`)
  button?.focus({ preventScroll: true })
  return button !== null && button !== undefined
}

function indexOf(target: Element): number | undefined {
  const line = target.closest('tr[data-index]')
  return line ? Number(line.getAttribute('data-index')) : undefined
}

/** Stands for rows that are not in sight. */
function Gap({ height }: { readonly height: number }) {
  return height > 0 ? <tr class="gap" style={{ height: `${height}px` }} /> : null
}

/** Chooses every row that is loaded, or none. */
function ChooseAll<Row>({
  rows,
  rowId,
  selection,
}: {
  readonly rows: Rows<Row>
  readonly rowId: (row: Row) => string
  readonly selection: Selection
}) {
  const { ids } = selection
  const all = () => {
    const found = new Set<string>()
    for (let i = 0; i < rows.length; i++) {
      const row = rows.at(i)
      if (row !== undefined) found.add(rowId(row))
    }
    return found
  }
  return (
    <input
      type="checkbox"
      aria-label="Select all"
      checked={rows.length > 0 && ids.size >= rows.length}
      onChange={(event) => selection.onChange(event.currentTarget.checked ? all() : new Set())}
    />
  )
}
