/** A button that opens a small window of controls under it. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

export interface PopoverProps {
  readonly label: ComponentChildren
  /** Where the label is no text. */
  readonly name?: string
  /** A function is given what closes it. */
  readonly children: ComponentChildren | ((close: () => void) => ComponentChildren)
}

export function Popover({ label, name, children }: PopoverProps) {
  const [isOpen, setOpen] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  useEffect(() => {
    if (!isOpen) return
    place.current?.querySelector<HTMLElement>('.popover input, .popover button')?.focus()
    const leave = (event: Event) => {
      if (event.target instanceof Node && !place.current?.contains(event.target)) setOpen(false)
    }
    window.addEventListener('pointerdown', leave)
    window.addEventListener('focusin', leave)
    return () => {
      window.removeEventListener('pointerdown', leave)
      window.removeEventListener('focusin', leave)
    }
  }, [isOpen])
  return (
    <div class="menu-place" ref={place}>
      <button
        ref={button}
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={name}
        onClick={() => setOpen(!isOpen)}
      >
        {label} <span aria-hidden="true">▾</span>
      </button>
      {isOpen && (
        <fieldset
          id={id}
          class="popover"
          tabIndex={-1}
          aria-label={typeof label === 'string' ? label : name}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            event.stopPropagation()
            close()
          }}
        >
          {typeof children === 'function' ? children(close) : children}
        </fieldset>
      )}
    </div>
  )
}
