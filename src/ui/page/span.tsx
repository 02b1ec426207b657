/** All of one span, or of one record: its values, what it took, and what people say of it. */
import { writeExactJson } from '../../json/exact-number.ts'
import { CopyButton } from '../component/copy-button.tsx'
import { age, isObject, time } from '../component/format.ts'
import { JsonView } from '../component/json-view.tsx'
import { nothingSought, type Sought } from '../component/marked.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { SaveFile } from '../component/save-file.tsx'
import { placeOf } from '../service/feedback.ts'
import { useLoaded } from '../service/load.ts'
import { query, quoted, type Row } from '../service/query.ts'
import { nameOf, typeOf } from '../service/span-facts.ts'
import { SpanDatasets } from './record-origin.tsx'
import { SpanComments } from './span-comments.tsx'
import { SpanExpected } from './span-expected.tsx'
import { computedCost, fieldTitle, SpanMetrics } from './span-metrics.tsx'
import { SpanScores } from './span-scores.tsx'
import { SpanTags } from './span-tags.tsx'
import type { Usage } from './trace-tree.ts'

/** Shown one after the other; `expected` can be changed and is shown by itself. */
const valueFields = ['error', 'input', 'output', 'expected', 'metadata'] as const

/** Shown elsewhere, or of no interest to people. */
const otherwiseShown = new Set<string>([
  ...valueFields,
  ...['scores', 'metrics', 'tags', 'span_attributes', 'comments', 'created'],
  ...['_pagination_key', 'audit_data', 'is_root', 'project_id', 'org_id', 'log_id'],
  computedCost,
  ...['id', 'span_id', 'root_span_id', 'span_parents', '_async_scoring_state'],
])

export interface SpanProps {
  /** `project_logs('…')` */
  readonly source: string
  readonly id: string
  /** What was looked for, which values mark. */
  readonly sought?: readonly Sought[]
  /** Undefined until it is known. */
  readonly mayChange: boolean | undefined
  /** With all spans below it. */
  readonly usage?: Usage | undefined
  readonly onChange?: () => void
}

export function Span({
  source,
  id,
  sought = nothingSought,
  mayChange,
  usage,
  onChange,
}: SpanProps) {
  const { data, error, reload } = useLoaded<Row>(`${source} ${id}`, async (signal) => {
    const answer = await query(
      `select: *, estimated_cost() as ${computedCost}\nfrom: ${source}\nfilter: id = ${quoted(id)}`,
      signal,
    )
    const [row] = answer.data
    if (!row) throw new Error(`There is no record ${id} any more`)
    return row
  })
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!data || mayChange === undefined) return <Loading what="the span" />
  const place = placeOf(source)
  const change = () => {
    reload()
    onChange?.()
  }
  const given = place && { place, row: data, mayChange, onChange: change }
  const others = Object.entries(data).filter(([name, value]) => {
    return !otherwiseShown.has(name) && !isNothing(value)
  })
  return (
    <article class="span" aria-label={`Span ${nameOf(data)}`}>
      <header class="span-head">
        <h3 title={nameOf(data)}>{nameOf(data)}</h3>
        <span class={`kind ${typeOf(data)}`}>{typeOf(data)}</span>
        <span class="hint" title={age(data.created)}>
          {time(data.created)}
        </span>
        <div class="tools">
          <CopyButton label="Copy id" text={id} />
          <SaveFile
            label="Download"
            name={`span-${String(data.span_id)}.json`}
            text={() => writeExactJson(data, '  ')}
          />
        </div>
      </header>
      <SpanMetrics row={data} usage={usage} />
      {given && <SpanScores {...given} />}
      {given && <SpanTags {...given} />}
      {place && place.type !== 'dataset' && <SpanDatasets key={id} place={place} id={id} />}
      {valueFields.map((field) =>
        field === 'expected' && given ? (
          <SpanExpected key={field} {...given} sought={sought} />
        ) : isNothing(data[field]) ? null : (
          <section key={field} class={field}>
            <h4>{fieldTitle(field)}</h4>
            <JsonView value={data[field]} label={field} sought={sought} />
          </section>
        ),
      )}
      {given && <SpanComments {...given} />}
      {others.length > 0 && (
        <details class="others">
          <summary>All other fields</summary>
          <JsonView value={Object.fromEntries(others)} label="other fields" sought={sought} />
        </details>
      )}
    </article>
  )
}

/** Null, and what has nothing in it. */
function isNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}
