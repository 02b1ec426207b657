/** A choice of one of several things: a button that shows what is chosen, and a list to choose from. */
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

export interface Option {
  readonly value: string
  readonly label: string
  /** Options of the same group stand together under its title. */
  readonly group?: string
}

export interface SelectProps {
  /** What is chosen, for those who do not see what stands beside it. */
  readonly label: string
  readonly options: readonly Option[]
  /** Without it the choice is its own. */
  readonly value?: string
  /** Of a choice of its own; without it the first. */
  readonly initial?: string
  readonly onChange?: (value: string) => void
  /** Of the value in the form's data. */
  readonly name?: string
  /** Shown while no option has the value. */
  readonly placeholder?: string
  readonly describedBy?: string
}

/** How long letters that are typed belong to one word. */
const wordMs = 700

const noWord = { text: '', at: Number.NEGATIVE_INFINITY }

/** Of the window's edge, in pixels. */
const margin = 8

/**
 * A list box: arrows, Home, End and letters move in it, Enter and Space choose, Escape leaves it. Closed,
 * arrows and letters open it. On a phone the list is a sheet at the bottom.
 */
export function Select(props: SelectProps) {
  const { label, options, onChange, name, placeholder, describedBy } = props
  const [own, setOwn] = useState(props.initial ?? options[0]?.value)
  const value = props.value ?? own
  const [active, setActive] = useState<number>()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const word = useRef(noWord)
  const id = useId()
  const isOpen = active !== undefined
  const chosen = options.findIndex((option) => option.value === value)
  const open = (place = Math.max(chosen, 0)) => setActive(place)
  const close = () => {
    setActive(undefined)
    // Letters that come later begin another word.
    word.current = noWord
  }
  const choose = (place: number) => {
    const option = options[place]
    close()
    button.current?.focus()
    if (!option || option.value === value) return
    setOwn(option.value)
    onChange?.(option.value)
  }
  useLayoutEffect(() => {
    const element = list.current
    if (!isOpen || !element) return
    element.showPopover()
    place(element, button.current!)
    // What is under it moves, and it would be left behind.
    const leave = (event: Event) => {
      const isInside = event.target instanceof Node && element.contains(event.target)
      const isButton = event.target instanceof Node && button.current?.contains(event.target)
      if (!isInside && !(isButton && event.type === 'pointerdown')) close()
    }
    window.addEventListener('pointerdown', leave, true)
    window.addEventListener('scroll', leave, true)
    window.addEventListener('resize', leave)
    return () => {
      element.hidePopover()
      window.removeEventListener('pointerdown', leave, true)
      window.removeEventListener('scroll', leave, true)
      window.removeEventListener('resize', leave)
    }
  }, [isOpen])
  useLayoutEffect(() => {
    if (active === undefined) return
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' })
  }, [active])
  const onKeyDown = (event: KeyboardEvent) => {
    const next = moved(event.key, active ?? Math.max(chosen, 0), options.length, isOpen)
    const isWord = event.key.length === 1 && event.key !== ' '
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Tab') return close()
    if (event.key === 'Escape') {
      if (!isOpen) return
      close()
    } else if (event.key === 'Enter' || event.key === ' ') {
      if (active === undefined) open()
      else choose(active)
    } else if (next !== undefined) setActive(next)
    else if (isWord) {
      const { text, at } = word.current
      word.current = {
        text: (event.timeStamp - at < wordMs ? text : '') + event.key.toLowerCase(),
        at: event.timeStamp,
      }
      const found = startingWith(word.current.text, options, active ?? chosen)
      if (found >= 0) setActive(found)
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <span class="select">
      <button
        ref={button}
        type="button"
        role="combobox"
        aria-label={label}
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        {...(isOpen && {
          'aria-controls': `${id}-list`,
          'aria-activedescendant': `${id}-${active}`,
        })}
        {...(describedBy !== undefined && { 'aria-describedby': describedBy })}
        onClick={() => (isOpen ? close() : open())}
        onBlur={close}
        onKeyDown={onKeyDown}
      >
        <span>{options[chosen]?.label ?? placeholder ?? ' '}</span>
        <Icon name="down" />
      </button>
      {name !== undefined && <input type="hidden" name={name} value={value ?? ''} />}
      {isOpen && (
        <div
          ref={list}
          id={`${id}-list`}
          role="listbox"
          aria-label={label}
          class="select-list"
          popover="manual"
          tabIndex={-1}
          // The button keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onPointerMove={(event) => {
            const under = placeUnder(event)
            if (under !== undefined && under !== active) setActive(under)
          }}
          onClick={(event) => {
            const under = placeUnder(event)
            if (under !== undefined) choose(under)
          }}
          onKeyDown={onKeyDown}
        >
          {options.map((option, i) => (
            <div key={option.value}>
              {option.group !== undefined && option.group !== options[i - 1]?.group && (
                <p aria-hidden="true">{option.group}</p>
              )}
              <div
                id={`${id}-${i}`}
                role="option"
                tabIndex={-1}
                data-place={i}
                data-value={option.value}
                aria-selected={i === chosen}
                class={i === active ? 'active' : undefined}
              >
                {option.label}
              </div>
            </div>
          ))}
        </div>
      )}
    </span>
  )
}

/** The place of the option that the pointer is on. */
function placeUnder({ target }: Event): number | undefined {
  const option = target instanceof Element ? target.closest('[data-place]') : null
  return option === null ? undefined : Number(option.getAttribute('data-place'))
}

/** Where a key leads; undefined for keys that lead nowhere. */
function moved(key: string, from: number, count: number, isOpen: boolean): number | undefined {
  const last = count - 1
  const to = new Map([
    ['ArrowDown', isOpen ? from + 1 : from],
    ['ArrowUp', isOpen ? from - 1 : from],
    ['Home', 0],
    ['End', last],
    ['PageDown', from + 10],
    ['PageUp', from - 10],
  ]).get(key)
  return to === undefined ? undefined : Math.max(0, Math.min(to, last))
}

/** One letter again and again goes through all that begin with it. */
function startingWith(text: string, options: readonly Option[], from: number): number {
  const isRepeated = [...text].every((letter) => letter === text[0])
  const wanted = isRepeated ? text.slice(0, 1) : text
  const first = isRepeated ? from + 1 : Math.max(from, 0)
  for (let i = 0; i < options.length; i++) {
    const place = (first + i) % options.length
    if (options[place]?.label.toLowerCase().startsWith(wanted)) return place
  }
  return -1
}

/** Under the button, or above it where there is more room; a sheet's place is the style's. */
function place(list: HTMLElement, button: HTMLElement): void {
  const { left, top, bottom, width } = button.getBoundingClientRect()
  const [below, above] = [window.innerHeight - bottom - margin, top - margin]
  const isBelow = below >= Math.min(list.scrollHeight, 240) || below >= above
  const style = {
    '--least-width': `${width}px`,
    '--most-height': `${Math.max(120, (isBelow ? below : above) - 4)}px`,
    '--top': isBelow ? `${bottom + 4}px` : 'auto',
    '--bottom': isBelow ? 'auto' : `${window.innerHeight - top + 4}px`,
  }
  for (const [name, value] of Object.entries(style)) list.style.setProperty(name, value)
  const most = window.innerWidth - list.offsetWidth - margin
  list.style.setProperty('--left', `${Math.max(margin, Math.min(left, most))}px`)
}
