/** Titles of columns: sorted by, moved and made wider by pointer and by keys. */
import { useRef, useState } from 'preact/hooks'
import type { Column } from './table-column.ts'

export interface Sort {
  readonly column: string
  readonly isDescending: boolean
}

export interface TableHeadProps<Row> {
  readonly columns: readonly Column<Row>[]
  readonly sort?: Sort | undefined
  readonly onSort?: ((column: string) => void) | undefined
  /** Called once the width is settled. */
  readonly onResize?: ((column: string, width: number) => void) | undefined
  /** Puts a column before another one, or last. */
  readonly onMove?: ((column: string, before: string | undefined) => void) | undefined
  /** Called while a width is being dragged. */
  readonly onDrag: (width: { readonly column: string; readonly width: number } | undefined) => void
}

const narrowest = 50
const widthStep = 20

export function HeadCells<Row>(props: TableHeadProps<Row>) {
  const { columns, sort, onSort, onResize, onMove, onDrag } = props
  const [focused, setFocused] = useState(0)
  const [dragged, setDragged] = useState<string>()
  const [target, setTarget] = useState<string>()
  const isResizing = useRef(false)
  const hasKeys = onMove !== undefined || onResize !== undefined
  const drop = (before: string) => {
    if (dragged !== undefined && dragged !== before) {
      const ids = columns.map(({ id }) => id)
      // Dropped on a column to the right, it comes after that one.
      const isToTheRight = ids.indexOf(dragged) < ids.indexOf(before)
      onMove?.(dragged, isToTheRight ? ids[ids.indexOf(before) + 1] : before)
    }
    setDragged(undefined)
    setTarget(undefined)
  }
  const focus = (element: Element | null | undefined) => {
    element?.querySelector<HTMLElement>('button')?.focus()
  }
  const onKeyDown = (event: KeyboardEvent, index: number) => {
    const { id, width } = columns[index]!
    const heading = (event.currentTarget as HTMLElement).closest('th')
    const isLeft = event.key === 'ArrowLeft'
    if (isLeft || event.key === 'ArrowRight') {
      if (event.altKey || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      const to = isLeft ? index - 1 : index + 1
      if (to < 0 || to >= columns.length) return
      setFocused(to)
      if (event.shiftKey) onMove?.(id, isLeft ? columns[to]!.id : columns[to + 1]?.id)
      else focus(isLeft ? heading?.previousElementSibling : heading?.nextElementSibling)
    } else if (event.key === '+' || event.key === '-') {
      event.preventDefault()
      const wider = width + (event.key === '+' ? widthStep : -widthStep)
      onResize?.(id, Math.max(narrowest, wider))
    }
  }
  return (
    <>
      {columns.map((column, index) => {
        const { id, title, width, isNumber, isSortable, description } = column
        const isSorted = sort?.column === id
        const canSort = isSortable === true && onSort !== undefined
        const arrow = isSorted ? (sort.isDescending ? ' ↓' : ' ↑') : ''
        return (
          <th
            key={id}
            scope="col"
            data-column={id}
            class={[isNumber ? 'number' : '', target === id ? 'target' : ''].join(' ').trim()}
            style={{ width: `${width}px` }}
            title={description}
            aria-sort={isSorted ? (sort.isDescending ? 'descending' : 'ascending') : undefined}
            draggable={onMove !== undefined}
            onDragStart={(event) => {
              if (isResizing.current) event.preventDefault()
              else {
                event.dataTransfer?.setData('text/plain', id)
                setDragged(id)
              }
            }}
            onDragOver={(event) => {
              if (dragged === undefined) return
              event.preventDefault()
              setTarget(id)
            }}
            onDragLeave={() => setTarget(undefined)}
            onDragEnd={() => setDragged(undefined)}
            onDrop={(event) => {
              event.preventDefault()
              drop(id)
            }}
          >
            {canSort || hasKeys ? (
              <button
                type="button"
                class="plain"
                tabIndex={index === Math.min(focused, columns.length - 1) ? 0 : -1}
                aria-keyshortcuts={hasKeys ? 'Shift+ArrowLeft Shift+ArrowRight + -' : undefined}
                onFocus={() => setFocused(index)}
                onKeyDown={(event) => onKeyDown(event, index)}
                onClick={() => canSort && onSort(id)}
              >
                {title}
                {arrow}
              </button>
            ) : (
              title + arrow
            )}
            {onResize && (
              <Grip
                width={width}
                hold={(isHeld) => {
                  isResizing.current = isHeld
                }}
                onDrag={(next) => onDrag({ column: id, width: next })}
                onEnd={(next) => {
                  onDrag(undefined)
                  onResize(id, next)
                }}
              />
            )}
          </th>
        )
      })}
    </>
  )
}

/** Drags the right edge of a column. */
function Grip({
  width,
  hold,
  onDrag,
  onEnd,
}: {
  readonly width: number
  readonly hold: (isHeld: boolean) => void
  readonly onDrag: (width: number) => void
  readonly onEnd: (width: number) => void
}) {
  const begin = (event: PointerEvent) => {
    event.preventDefault()
    event.stopPropagation()
    hold(true)
    const start = event.clientX
    let next = width
    const drag = ({ clientX }: PointerEvent) => {
      next = Math.max(narrowest, Math.round(width + clientX - start))
      onDrag(next)
    }
    const end = () => {
      window.removeEventListener('pointermove', drag)
      window.removeEventListener('pointerup', end)
      window.removeEventListener('pointercancel', end)
      hold(false)
      onEnd(next)
    }
    window.addEventListener('pointermove', drag)
    window.addEventListener('pointerup', end)
    window.addEventListener('pointercancel', end)
  }
  return <span class="grip" aria-hidden="true" onPointerDown={begin} />
}
