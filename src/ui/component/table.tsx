/** A table of any number of rows, of which only those in sight are in the document. */
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface Column<Row> {
  readonly id: string
  readonly title: string
  /** In pixels. */
  readonly width: number
  readonly isNumber?: boolean
  readonly cell: (row: Row) => ComponentChildren
  /** Shown whole when the pointer rests on the cell. */
  readonly hint?: (row: Row) => string
}

export interface TableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
  readonly openId?: string | undefined
  readonly onOpen?: (row: Row) => void
  /** The end of the rows came into sight. */
  readonly onEnd?: () => void
  readonly onResize?: (column: string, width: number) => void
  readonly foot?: ComponentChildren
}

const rowHeight = 32

/** Rows beyond those in sight, so that scrolling meets no gaps. */
const spare = 12

export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, rowId, openId, onOpen, onEnd, onResize, foot } = props
  const viewport = useRef<HTMLDivElement>(null)
  const [sight, setSight] = useState({ first: 0, last: 40 })
  const [active, setActive] = useState(0)
  const isMoving = useRef(false)
  // Keys may come faster than the table is drawn.
  const activeNow = useRef(0)
  const look = () => {
    const element = viewport.current
    if (!element) return
    const first = Math.floor(element.scrollTop / rowHeight)
    const last = first + Math.ceil(element.clientHeight / rowHeight)
    setSight((before) =>
      before.first === first && before.last === last ? before : { first, last },
    )
  }
  useLayoutEffect(look, [rows.length])
  useEffect(() => {
    const element = viewport.current
    if (!element) return
    const observer = new ResizeObserver(look)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    if (sight.last >= rows.length - spare && rows.length > 0) onEnd?.()
  }, [sight.last, rows.length])

  const move = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to))
    isMoving.current = true
    activeNow.current = next
    setActive(next)
    const element = viewport.current
    if (!element) return
    const top = next * rowHeight
    const bottom = top + rowHeight * 2
    if (top < element.scrollTop) element.scrollTop = top
    else if (bottom > element.scrollTop + element.clientHeight) {
      element.scrollTop = bottom - element.clientHeight
    }
  }
  const page = Math.max(1, sight.last - sight.first - 2)
  const steps: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(activeNow.current + 1),
    ArrowUp: () => move(activeNow.current - 1),
    PageDown: () => move(activeNow.current + page),
    PageUp: () => move(activeNow.current - page),
    Home: () => move(0),
    End: () => move(rows.length - 1),
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = steps[event.key]
    if (!step) return
    event.preventDefault()
    step()
  }

  const from = Math.max(0, sight.first - spare)
  const to = Math.min(rows.length, sight.last + spare)
  const width = columns.reduce((sum, column) => sum + column.width, 0)
  // A click anywhere in a row opens it; the keyboard has the button in the first cell.
  useEffect(() => {
    const element = viewport.current
    const open = (event: MouseEvent) => {
      const line = event.target instanceof Element ? event.target.closest('tr[data-index]') : null
      const index = Number(line?.getAttribute('data-index') ?? Number.NaN)
      const row = rows[index]
      if (row === undefined) return
      activeNow.current = index
      setActive(index)
      onOpen?.(row)
    }
    element?.addEventListener('click', open)
    return () => element?.removeEventListener('click', open)
  }, [rows, onOpen])
  useLayoutEffect(() => {
    if (!isMoving.current) return
    isMoving.current = false
    viewport.current?.querySelector<HTMLElement>(`tr[data-index="${active}"] button`)?.focus()
  }, [active, sight.first])
  return (
    <div class="table" ref={viewport} onScroll={look}>
      <table aria-label={label} aria-rowcount={rows.length + 1} style={{ width: `${width}px` }}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.id}
                scope="col"
                class={column.isNumber ? 'number' : undefined}
                style={{ width: `${column.width}px` }}
              >
                {column.title}
                {onResize && <Grip column={column.id} width={column.width} onResize={onResize} />}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {from > 0 && <Gap rows={from} />}
          {rows.slice(from, to).map((row, i) => {
            const index = from + i
            const id = rowId(row)
            return (
              <tr
                key={id}
                data-index={index}
                aria-rowindex={index + 2}
                aria-selected={id === openId}
                class={index === active ? 'active' : undefined}
              >
                {columns.map((column, place) => (
                  <td
                    key={column.id}
                    class={column.isNumber ? 'number' : undefined}
                    title={column.hint?.(row)}
                  >
                    {place === 0 ? (
                      <button
                        type="button"
                        class="plain"
                        tabIndex={index === active ? 0 : -1}
                        onKeyDown={onKeyDown}
                      >
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
          {to < rows.length && <Gap rows={rows.length - to} />}
        </tbody>
      </table>
      {foot !== undefined && <div class="table-foot">{foot}</div>}
    </div>
  )
}

/** Stands for rows that are not in sight. */
function Gap({ rows }: { readonly rows: number }) {
  return <tr style={{ height: `${rows * rowHeight}px` }} />
}

const narrowest = 50

/** Drags the right edge of a column. */
function Grip({
  column,
  width,
  onResize,
}: {
  readonly column: string
  readonly width: number
  readonly onResize: (column: string, width: number) => void
}) {
  const begin = (event: PointerEvent) => {
    event.preventDefault()
    event.stopPropagation()
    const start = event.clientX
    const drag = ({ clientX }: PointerEvent) => {
      onResize(column, Math.max(narrowest, Math.round(width + clientX - start)))
    }
    const end = () => {
      window.removeEventListener('pointermove', drag)
      window.removeEventListener('pointerup', end)
    }
    window.addEventListener('pointermove', drag)
    window.addEventListener('pointerup', end)
  }
  return <span class="grip" aria-hidden="true" onPointerDown={begin} />
}
