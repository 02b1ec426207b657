/** One input for words and for queries; tells what they were taken for. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { request } from '../service/client.ts'
import type { Interpretation } from '../service/query.ts'

interface Completion {
  readonly text: string
  readonly detail?: string
}

interface Completions {
  readonly from: number
  readonly to: number
  readonly items: readonly Completion[]
}

export interface SearchInputProps {
  readonly text: string
  readonly source: string
  readonly interpretation: Interpretation | undefined
  readonly onSearch: (text: string) => void
}

const mostShown = 8

export function SearchInput({ text, source, interpretation, onSearch }: SearchInputProps) {
  const input = useRef<HTMLInputElement>(null)
  const [written, setWritten] = useState(text)
  const [offered, setOffered] = useState<Completions>()
  const [chosen, setChosen] = useState(-1)
  useEffect(() => setWritten(text), [text])
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
      if (event.key !== '/' || isTyping) return
      event.preventDefault()
      input.current?.focus()
    }
    window.addEventListener('keydown', focus)
    return () => window.removeEventListener('keydown', focus)
  }, [])
  const complete = useCompletion(source, setOffered)
  const take = ({ text: insert }: Completion) => {
    if (!offered) return
    const next = written.slice(0, offered.from) + insert + written.slice(offered.to)
    setWritten(next)
    setOffered(undefined)
    input.current?.focus()
  }
  const items = offered?.items.slice(0, mostShown) ?? []
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setOffered(undefined)
    else if (event.key === 'ArrowDown' && items.length > 0) {
      event.preventDefault()
      setChosen((chosen + 1) % items.length)
    } else if (event.key === 'ArrowUp' && items.length > 0) {
      event.preventDefault()
      setChosen((chosen + items.length - 1) % items.length)
    } else if ((event.key === 'Enter' || event.key === 'Tab') && items[chosen]) {
      event.preventDefault()
      take(items[chosen])
    }
  }
  return (
    <search>
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault()
          setOffered(undefined)
          onSearch(written.trim())
        }}
      >
        <div class="search-field">
          <input
            ref={input}
            value={written}
            placeholder="Words or a query: errors from gpt-4o yesterday — metadata.model = 'gpt-4o'"
            aria-label="Search"
            role="combobox"
            aria-expanded={items.length > 0}
            aria-controls="offered"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => {
              const { value, selectionStart } = event.currentTarget
              setWritten(value)
              setChosen(-1)
              complete(value, selectionStart ?? value.length)
            }}
            onKeyDown={onKeyDown}
            onBlur={() => setTimeout(() => setOffered(undefined), 150)}
          />
          {items.length > 0 && (
            <div id="offered" role="listbox" class="offered" tabIndex={-1}>
              {items.map((item, i) => (
                <div
                  key={item.text}
                  role="option"
                  tabIndex={-1}
                  aria-selected={i === chosen}
                  onPointerDown={() => take(item)}
                >
                  <code>{item.text}</code> <span class="hint">{item.detail}</span>
                </div>
              ))}
            </div>
          )}
        </div>
        <button type="submit">Search</button>
        {text !== '' && interpretation && <Told interpretation={interpretation} />}
      </form>
    </search>
  )
}

const kinds = { btql: 'Query', translated: 'Understood as', full_text: 'Text' } as const

function Told({ interpretation }: { readonly interpretation: Interpretation }) {
  const { kind, explanation, query, fault } = interpretation
  return (
    <details class="told">
      <summary>
        <strong>{kinds[kind]}</strong> {explanation}
        {fault !== undefined && <span class="bad"> (as a query: {fault})</span>}
      </summary>
      <pre>{query}</pre>
    </details>
  )
}

const pauseMs = 150

/** Asks what may follow once nothing is typed for a moment; only the last question counts. */
function useCompletion(source: string, show: (found: Completions | undefined) => void) {
  const timer = useRef<number>(undefined)
  const abandon = useRef(new AbortController())
  return (text: string, position: number) => {
    window.clearTimeout(timer.current)
    abandon.current.abort()
    abandon.current = new AbortController()
    const { signal } = abandon.current
    if (text.trim() === '' || /\s$/.test(text.slice(0, position))) {
      show(undefined)
      return
    }
    timer.current = window.setTimeout(async () => {
      try {
        const body = { query: text, position, from: source }
        const response = await request('/btql/complete', { body, signal })
        const found = (await response.json()) as Completions
        const word = text.slice(found.from, position)
        show(word === '' ? undefined : found)
      } catch {
        // Completion is a convenience: without an answer there is none.
        show(undefined)
      }
    }, pauseMs)
  }
}
