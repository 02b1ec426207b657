/** Values of fields with their counts beside the rows: choosing one narrows the search. */
import type { ComponentChildren } from 'preact'
import { number } from '../component/format.ts'
import { Icon } from '../component/icon.tsx'
import { Failure } from '../component/notice.tsx'
import { type FacetField, loadErrors, loadFacet } from '../service/facets.ts'
import {
  chosenValues,
  excluded,
  literal,
  pathText,
  type Scalar,
  withTerm,
  withToggled,
} from '../service/filter-terms.ts'
import { useLoaded } from '../service/load.ts'
import { parameter, setParameters } from '../state/location.ts'

const fixedFields: readonly FacetField[] = [
  { id: 'type', title: 'Type', path: 'span_attributes.type' },
  { id: 'metadata.model', title: 'metadata.model', path: 'metadata.model' },
  { id: 'tags', title: 'Tags', path: 'tags', isList: true },
  { id: 'name', title: 'Name', path: 'span_attributes.name' },
]

const errorField = 'error'
const opened = ['type', errorField, 'metadata.model', 'tags']

export interface FacetsProps {
  /** The query of the search, narrowed to the time that is shown; undefined until it is known. */
  readonly query: string | undefined
  /** The conditions of the search itself. */
  readonly terms: readonly string[]
  readonly rowsAre: 'traces' | 'spans'
  /** Names of fields of metadata that rows have. */
  readonly metadata: readonly string[]
  /** Counts again when it changes. */
  readonly round: number
  readonly onTerms: (terms: readonly string[]) => void
}

/** Which fields are open, as the address says; undefined where the facets are not shown. */
function openIds(): readonly string[] | undefined {
  return parameter('facets')?.split(',').map(decodeURIComponent)
}

export function FacetsSwitch() {
  const isOpen = openIds() !== undefined
  return (
    <button
      type="button"
      aria-pressed={isOpen}
      title="Values to filter by, with how often they are there"
      onClick={() => setParameters({ facets: isOpen ? undefined : opened.join(',') })}
    >
      Filters
    </button>
  )
}

const label = 'Values to filter by'

export function Facets(props: FacetsProps) {
  const open = openIds()
  if (!open) return null
  const { query } = props
  // Their place is there from the start.
  if (query === undefined) return <aside class="facets" aria-label={label} />
  const others = props.metadata
    .filter((name) => name !== 'model')
    .map((name): FacetField => {
      const title = `metadata.${name}`
      return { id: title, title, path: pathText(['metadata', name]) }
    })
  const toggle = (id: string) => {
    const next = open.includes(id) ? open.filter((each) => each !== id) : [...open, id]
    // Without one that is open they are still shown.
    setParameters({ facets: next.map(encodeURIComponent).join(',') || '-' })
  }
  const [type, ...fields] = [...fixedFields, ...others]
  return (
    <aside class="facets" aria-label={label}>
      <Facet
        {...props}
        query={query}
        field={type!}
        isOpen={open.includes(type!.id)}
        onToggle={toggle}
      />
      <ErrorFacet {...props} query={query} isOpen={open.includes(errorField)} onToggle={toggle} />
      {fields.map((field) => (
        <Facet
          key={field.id}
          {...props}
          query={query}
          field={field}
          isOpen={open.includes(field.id)}
          onToggle={toggle}
        />
      ))}
    </aside>
  )
}

interface PartProps extends FacetsProps {
  readonly query: string
  readonly isOpen: boolean
  readonly onToggle: (id: string) => void
}

function Facet({
  field,
  query,
  terms,
  rowsAre,
  round,
  onTerms,
  isOpen,
  onToggle,
}: PartProps & { readonly field: FacetField }) {
  const { id, title, path, isList = false } = field
  const { data, error, isLoading, reload } = useLoaded(
    isOpen ? `facet ${path} ${query} ${round}` : undefined,
    (signal) => loadFacet(query, field, signal),
  )
  const includes = (value: Scalar) => `${path} includes ${literal(value)}`
  const isChosen = (value: Scalar) =>
    isList ? terms.includes(includes(value)) : chosenValues(terms, path).includes(value)
  const toggle = (value: Scalar) => {
    if (!isList) onTerms(withToggled(terms, path, value))
    else if (isChosen(value)) onTerms(terms.filter((term) => term !== includes(value)))
    else onTerms(withTerm(terms, includes(value)))
  }
  const exclude = (value: Scalar) => {
    const condition = !isList
      ? excluded(path, value, rowsAre)
      : rowsAre === 'traces'
        ? `not any_span(${includes(value)})`
        : `not (${includes(value)})`
    onTerms(withTerm(terms, condition))
  }
  return (
    <Part id={id} title={title} isOpen={isOpen} onToggle={onToggle}>
      {error && <Failure error={error} retry={reload} />}
      {!data && isLoading && <p class="hint">…</p>}
      {data?.values.length === 0 && <p class="hint">No values</p>}
      <ul>
        {data?.values.map(({ value, count }) => (
          <li key={JSON.stringify(value)}>
            <label title={String(value)}>
              <input type="checkbox" checked={isChosen(value)} onChange={() => toggle(value)} />
              <span class="name">{String(value)}</span>
              <span class="count">{number(count)}</span>
            </label>
            <button
              type="button"
              class="plain"
              aria-label={`Exclude ${title} ${String(value)}`}
              title="Exclude it"
              onClick={() => exclude(value)}
            >
              −
            </button>
          </li>
        ))}
      </ul>
      {data?.hasMore && <p class="hint">The most frequent; there are more.</p>}
    </Part>
  )
}

const hasError = 'error is not null'

function ErrorFacet({ query, terms, rowsAre, round, onTerms, isOpen, onToggle }: PartProps) {
  const hasNone = rowsAre === 'traces' ? `not any_span(${hasError})` : 'error is null'
  const { data, error, reload } = useLoaded(
    isOpen ? `errors ${query} ${round}` : undefined,
    (signal) => loadErrors(query, signal),
  )
  const choices = [
    { title: 'With an error', term: hasError, other: hasNone, count: data },
    { title: 'Without', term: hasNone, other: hasError, count: undefined },
  ]
  return (
    <Part id={errorField} title="Error" isOpen={isOpen} onToggle={onToggle}>
      {error && <Failure error={error} retry={reload} />}
      <ul>
        {choices.map(({ title, term, other, count }) => (
          <li key={title}>
            <label>
              <input
                type="checkbox"
                checked={terms.includes(term)}
                onChange={() => {
                  const rest = terms.filter((each) => each !== term && each !== other)
                  onTerms(terms.includes(term) ? rest : [...rest, term])
                }}
              />
              <span class="name">{title}</span>
              <span class="count">{number(count)}</span>
            </label>
          </li>
        ))}
      </ul>
    </Part>
  )
}

function Part({
  id,
  title,
  isOpen,
  onToggle,
  children,
}: {
  readonly id: string
  readonly title: string
  readonly isOpen: boolean
  readonly onToggle: (id: string) => void
  readonly children: ComponentChildren
}) {
  return (
    <section aria-label={title}>
      <button
        type="button"
        class="plain facet-title"
        aria-expanded={isOpen}
        onClick={() => onToggle(id)}
      >
        <Icon name={isOpen ? 'down' : 'right'} />
        {title}
      </button>
      {isOpen && children}
    </section>
  )
}
