/** One input for words and for queries; tells what they were taken for. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useCompletion } from '../service/completion.ts'
import type { Interpretation } from '../service/query.ts'
import { takesQueries } from '../service/session.ts'
import { rememberSearch, searchesLike } from '../state/recent-searches.ts'
import { useStateOf } from '../state/state-of.ts'
import { Taken } from './search-taken.tsx'
import { isInDialog, isTyping } from './typing.ts'

export interface SearchInputProps {
  readonly text: string
  readonly source: string
  /** What the text was taken for; undefined while that is being found out. */
  readonly interpretation: Interpretation | undefined
  readonly isLoading?: boolean
  readonly onSearch: (text: string) => void
  /** Offered beside recent searches where they are called as what is written. */
  readonly suggestions?: readonly Suggestion[]
  /** What can be chosen of what the text was taken for. */
  readonly beside?: ComponentChildren
  /** Somebody begins to search. */
  readonly onBegin?: () => void
}

export interface Suggestion {
  readonly text: string
  readonly detail: string
  readonly onTake: () => void
}

interface Offer {
  readonly text: string
  readonly detail: string | undefined
  /** What the input says once it is taken. */
  readonly next: string
  readonly cursor: number
  readonly isSearch: boolean
  readonly onTake?: () => void
}

const mostShown = 10
const mostOfAKind = 4

const none: readonly Suggestion[] = []

export function SearchInput(props: SearchInputProps) {
  const {
    text,
    source,
    interpretation,
    isLoading = false,
    onSearch,
    suggestions = none,
    beside,
    onBegin,
  } = props
  const input = useRef<HTMLInputElement>(null)
  const list = useId()
  const [written, setWritten] = useStateOf([text], text)
  const [position, setPosition] = useState(0)
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState(-1)
  useSlashKey(input)
  const found = useCompletion(isOpen && takesQueries() ? written : undefined, position, source)
  const isBlank = written.trim() === ''

  // Where nothing is written, fields are what one may want to see.
  const items = (found?.items ?? []).filter(({ kind }) => !isBlank || kind === 'field')
  const completions = items.map((item): Offer => {
    const before = written.slice(0, found!.from) + item.text
    const next = before + written.slice(found!.to)
    return { text: item.text, detail: item.detail, next, cursor: before.length, isSearch: false }
  })
  const recent = searchesLike(written).map(
    (each): Offer => ({
      text: each,
      detail: 'searched before',
      next: each,
      cursor: each.length,
      isSearch: true,
    }),
  )
  const wanted = written.trim().toLowerCase()
  const named = suggestions
    .filter((each) => each.text.toLowerCase().includes(wanted))
    .map(({ text: name, detail, onTake }): Offer => {
      return { text: name, detail, next: written, cursor: position, isSearch: false, onTake }
    })
  const offers = isOpen
    ? [
        ...recent.slice(0, mostOfAKind),
        ...named.slice(0, mostOfAKind),
        ...completions.slice(0, mostShown),
      ].slice(0, mostShown + mostOfAKind)
    : []
  const begin = () => {
    setOpen(true)
    onBegin?.()
  }

  const search = (next: string) => {
    setOpen(false)
    setChosen(-1)
    const words = next.trim()
    setWritten(words)
    rememberSearch(words)
    onSearch(words)
  }
  const take = (offer: Offer) => {
    if (offer.onTake) {
      setOpen(false)
      setChosen(-1)
      offer.onTake()
      return
    }
    if (offer.isSearch) {
      search(offer.next)
      return
    }
    setWritten(offer.next)
    setPosition(offer.cursor)
    setChosen(-1)
    const element = input.current
    if (!element) return
    element.value = offer.next
    element.focus()
    element.setSelectionRange(offer.cursor, offer.cursor)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event
    if (key === 'Escape') setOpen(false)
    else if (key === 'ArrowDown' && !isOpen) begin()
    else if ((key === 'ArrowDown' || key === 'ArrowUp') && offers.length > 0) {
      event.preventDefault()
      const step = key === 'ArrowDown' ? 1 : offers.length - 1
      setChosen((Math.max(chosen, key === 'ArrowDown' ? -1 : 0) + step) % offers.length)
    } else if ((key === 'Enter' || key === 'Tab') && offers[chosen]) {
      event.preventDefault()
      take(offers[chosen])
    }
  }
  return (
    <search>
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault()
          search(written)
        }}
      >
        <div class="search-field">
          <input
            ref={input}
            value={written}
            placeholder="Words or a query: errors from gpt-4o yesterday — metadata.model = 'gpt-4o'"
            aria-label="Search"
            role="combobox"
            aria-expanded={offers.length > 0}
            aria-controls={list}
            aria-autocomplete="list"
            aria-activedescendant={offers[chosen] ? `${list}-${chosen}` : undefined}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => {
              const { value, selectionStart } = event.currentTarget
              setWritten(value)
              setPosition(selectionStart ?? value.length)
              setChosen(-1)
              begin()
            }}
            onClick={begin}
            onKeyDown={onKeyDown}
            onBlur={() => setOpen(false)}
          />
          <div
            id={list}
            role="listbox"
            aria-label="Completions"
            hidden={offers.length === 0}
            class="offered"
          >
            {offers.map((offer, i) => (
              <div
                key={`${offer.text} ${offer.detail} ${offer.isSearch}`}
                id={`${list}-${i}`}
                role="option"
                tabIndex={-1}
                aria-selected={i === chosen}
                onPointerDown={(event) => {
                  event.preventDefault()
                  take(offer)
                }}
              >
                <code>{offer.text}</code> <span class="hint">{offer.detail}</span>
              </div>
            ))}
          </div>
        </div>
        <button type="submit">Search</button>
        {text !== '' && (
          <button type="button" onClick={() => search('')}>
            Clear
          </button>
        )}
      </form>
      {text !== '' && !interpretation && (
        // Its room is there from the start, so that nothing below it moves when it comes.
        <p class="taken hint" role="status">
          {isLoading && 'Reading your search…'}
        </p>
      )}
      {text !== '' && interpretation && (
        <Taken
          key={text}
          text={text}
          source={source}
          interpretation={interpretation}
          onSearch={search}
        >
          {beside}
        </Taken>
      )}
    </search>
  )
}

/** `/` goes to the search from anywhere but other inputs. */
function useSlashKey(input: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event) || isInDialog()) return
      event.preventDefault()
      input.current?.focus()
    }
    window.addEventListener('keydown', focus)
    return () => window.removeEventListener('keydown', focus)
  }, [])
}
