/** What a search was taken for: as what, why not as a query, and the query, which can be changed. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Problem } from '../editor/service.ts'
import { checkQuery, placeIn } from '../service/completion.ts'
import { useLoaded } from '../service/load.ts'
import type { Interpretation } from '../service/query.ts'
import { parts, pathOf } from '../state/location.ts'
import { Link } from './link.tsx'

const kinds = { btql: 'Query', translated: 'Understood as', full_text: 'Words' } as const

export function Taken({
  text,
  source,
  interpretation,
  onSearch,
  children,
}: {
  readonly text: string
  readonly source: string
  readonly interpretation: Interpretation
  readonly onSearch: (text: string) => void
  readonly children?: ComponentChildren
}) {
  const { kind, explanation, query, fault, translator } = interpretation
  const [isOpen, setOpen] = useState(false)
  const [changed, setChanged] = useState(query)
  const queryPage = queryPageOf(query)
  return (
    <div class="taken">
      <p>
        <strong>{kinds[kind]}</strong> {explanation}
        {translator === 'language_model' && <span class="hint"> (by the language model)</span>}
        {kind !== 'btql' && (
          <button
            type="button"
            class="plain link"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? 'Hide the query' : 'Show the query'}
          </button>
        )}
        {queryPage && <Link to={queryPage}>Plot or export it</Link>}
        {children}
      </p>
      {fault !== undefined && <NoQuery text={text} source={source} fault={fault} />}
      {isOpen && (
        <form
          class="taken-query"
          onSubmit={(event) => {
            event.preventDefault()
            onSearch(changed)
          }}
        >
          <textarea
            aria-label="The query that the words became"
            rows={Math.min(12, query.split('\n').length + 1)}
            spellcheck={false}
            value={changed}
            onInput={(event) => setChanged(event.currentTarget.value)}
          />
          <button type="submit">Run this query</button>
        </form>
      )}
    </div>
  )
}

/** Where a query can be changed; undefined outside of projects. */
function queryPageOf(query: string): string | undefined {
  const [app, organization, p, project] = parts.value
  const isInProject = app === 'app' && p === 'p'
  return isInProject && organization !== undefined && project !== undefined
    ? `${pathOf(app, organization, p, project, 'query')}?q=${encodeURIComponent(query)}`
    : undefined
}

/** What looks like a query and is none: where, and what is wrong there. */
function NoQuery({
  text,
  source,
  fault,
}: {
  readonly text: string
  readonly source: string
  readonly fault: string
}) {
  const { data } = useLoaded(`${source} ${text}`, (signal) => checkQuery(text, source, signal))
  const queryPage = queryPageOf(text)
  const found = data?.diagnostics.find(({ severity }) => severity === 'error')
  return (
    <p class="fault">
      This looks like a query but cannot run: <span class="bad">{found?.message ?? fault}</span>
      {found?.hint !== undefined && <span class="hint"> {found.hint}</span>}
      {found && <Place text={text} diagnostic={found} />}
      <span class="both">
        {queryPage !== undefined && <Link to={queryPage}>Correct it in the query editor</Link>}
        <span class="hint">Below are the results of searching for its words.</span>
      </span>
    </p>
  )
}

function Place({ text, diagnostic }: { readonly text: string; readonly diagnostic: Problem }) {
  const place = placeIn(text, diagnostic)
  if (!place) return null
  const { start, end } = place
  return (
    <code class="fault-place">
      {text.slice(0, start)}
      <span class="fault-mark">{text.slice(start, end) || '…'}</span>
      {text.slice(end)}
    </code>
  )
}
