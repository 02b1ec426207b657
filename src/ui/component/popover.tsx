/** A button that opens a small window of controls under it. */
import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'
import { useOpening } from './opening.ts'

export interface PopoverProps {
  readonly label: ComponentChildren
  /** Where the label is no text. */
  readonly name?: string
  /** A function is given what closes it. */
  readonly children: ComponentChildren | ((close: () => void) => ComponentChildren)
}

export function Popover({ label, name, children }: PopoverProps) {
  const { isOpen, setOpen, close, place, button, id } = useOpening(
    '.popover input, .popover button',
    { isLeftByFocus: true },
  )
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
        {label}
        <Icon name="down" />
      </button>
      {isOpen && (
        <fieldset
          id={id}
          class="popover"
          tabIndex={-1}
          aria-label={typeof label === 'string' ? label : name}
        >
          {typeof children === 'function' ? children(close) : children}
        </fieldset>
      )}
    </div>
  )
}
