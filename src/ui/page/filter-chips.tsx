/** The conditions of a search, each of which can be taken out and changed. */
import { useState } from 'preact/hooks'
import { Icon } from '../component/icon.tsx'
import { termsOf, textWith } from '../service/filter-terms.ts'
import type { Interpretation } from '../service/query.ts'

export interface FilterChipsProps {
  readonly source: string
  /** Undefined while the text is being read. */
  readonly interpretation: Interpretation | undefined
  readonly onSearch: (text: string) => void
}

export function FilterChips({ source, interpretation, onSearch }: FilterChipsProps) {
  // Words are looked for in many places by one long condition: the words tell more.
  const terms =
    interpretation && interpretation.kind !== 'full_text' ? termsOf(interpretation.filter) : []
  const change = (next: readonly string[]) => {
    if (interpretation) onSearch(textWith(interpretation, source, next))
  }
  return (
    <ul class="chips" aria-label="Filters">
      {terms.map((term, place) => (
        <Chip
          key={term}
          term={term}
          onRemove={() => change(terms.filter((_, other) => other !== place))}
          onChange={(next) =>
            change(
              terms.flatMap((each, other) => (other !== place ? each : next === '' ? [] : next)),
            )
          }
        />
      ))}
    </ul>
  )
}

function Chip({
  term,
  onRemove,
  onChange,
}: {
  readonly term: string
  readonly onRemove: () => void
  readonly onChange: (term: string) => void
}) {
  const [written, setWritten] = useState<string>()
  if (written !== undefined) {
    return (
      <li class="chip">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            setWritten(undefined)
            if (written.trim() !== term) onChange(written.trim())
          }}
        >
          <input
            aria-label="Condition"
            value={written}
            size={Math.max(12, written.length)}
            spellcheck={false}
            autocomplete="off"
            ref={(element) => {
              if (element && document.activeElement !== element) element.focus()
            }}
            onInput={(event) => setWritten(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Escape') return
              event.stopPropagation()
              setWritten(undefined)
            }}
            onBlur={() => setWritten(undefined)}
          />
        </form>
      </li>
    )
  }
  return (
    <li class="chip">
      <button type="button" class="plain" title="Change it" onClick={() => setWritten(term)}>
        {term}
      </button>
      <button
        type="button"
        class="plain"
        aria-label={`Remove the filter ${term}`}
        title="Remove it"
        onClick={onRemove}
      >
        <Icon name="close" />
      </button>
    </li>
  )
}
