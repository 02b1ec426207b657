/** A button that opens a list of things to do. */
import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'
import { useOpening } from './opening.ts'

export interface MenuItem {
  readonly label: string
  readonly detail?: string | undefined
  readonly isDisabled?: boolean
  readonly onChoose: () => void
}

export interface MenuProps {
  readonly label: ComponentChildren
  /** Where the label is no text but an icon that says by itself that there is more. */
  readonly name?: string
  readonly items: readonly MenuItem[]
  readonly isDisabled?: boolean
  /** Begins to find out what is only needed when it is open. */
  readonly onOpen?: () => void
}

export function Menu({ label, name, items, isDisabled = false, onOpen }: MenuProps) {
  const { isOpen, setOpen, close, place, button, id } = useOpening(entries)
  const open = () => {
    onOpen?.()
    setOpen(true)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Tab') setOpen(false)
    else if (event.key === 'Escape') close()
    else moveFocus(event, [...(place.current?.querySelectorAll<HTMLElement>(entries) ?? [])])
  }
  return (
    <div class="menu-place" ref={place}>
      <button
        ref={button}
        type="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        disabled={isDisabled}
        {...(name !== undefined && { 'aria-label': name })}
        onClick={() => (isOpen ? setOpen(false) : open())}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          if (isOpen) place.current?.querySelector<HTMLElement>(entries)?.focus()
          else open()
        }}
      >
        {label}
        {name === undefined && <Icon name="down" />}
      </button>
      {isOpen && (
        <div id={id} role="menu" class="menu-list" tabIndex={-1} onKeyDown={onKeyDown}>
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              disabled={item.isDisabled === true}
              onClick={() => {
                close()
                item.onChoose()
              }}
            >
              {item.label}
              {item.detail !== undefined && <span class="hint">{item.detail}</span>}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}

const entries = '[role=menuitem]:not(:disabled)'

/** Arrows, Home and End move along elements of which one has the focus; true if that was asked. */
export function moveFocus(event: KeyboardEvent, elements: readonly HTMLElement[]): boolean {
  const here = elements.indexOf(document.activeElement as HTMLElement)
  const count = elements.length
  const next = new Map([
    ['ArrowDown', (here + 1) % count],
    ['ArrowRight', (here + 1) % count],
    ['ArrowUp', (here - 1 + count) % count],
    ['ArrowLeft', (here - 1 + count) % count],
    ['Home', 0],
    ['End', count - 1],
  ]).get(event.key)
  if (next === undefined || count === 0) return false
  event.preventDefault()
  elements[next]?.focus()
  return true
}
