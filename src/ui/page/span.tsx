/** All of one span, or of one record: its values, what it took, and what people say of it. */
import { writeExactJson } from '../../json/exact-number.ts'
import { CopyButton } from '../component/copy-button.tsx'
import { duration, isObject, number, time } from '../component/format.ts'
import { JsonView } from '../component/json-view.tsx'
import { nothingSought, type Sought } from '../component/marked.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { SaveFile } from '../component/save-file.tsx'
import { placeOf } from '../service/feedback.ts'
import { useLoaded } from '../service/load.ts'
import { query, quoted, type Row } from '../service/query.ts'
import { durationOf, nameOf, typeOf } from '../service/span-facts.ts'
import { SpanComments } from './span-comments.tsx'
import { SpanExpected } from './span-expected.tsx'
import { SpanScores } from './span-scores.tsx'
import { SpanTags } from './span-tags.tsx'

/** Shown one after the other; `expected` can be changed and is shown by itself. */
const valueFields = ['error', 'input', 'output', 'expected', 'metadata'] as const

/** Shown elsewhere, or of no interest to people. */
const otherwiseShown = new Set<string>([
  ...valueFields,
  ...['scores', 'metrics', 'tags', 'span_attributes', 'comments', 'created'],
  ...['_pagination_key', 'audit_data', 'is_root', 'project_id', 'org_id', 'log_id'],
  ...['id', 'span_id', 'root_span_id', 'span_parents', '_async_scoring_state'],
])

export interface SpanProps {
  /** `project_logs('…')` */
  readonly source: string
  readonly id: string
  /** What was looked for, which values mark. */
  readonly sought?: readonly Sought[]
  readonly onChange?: () => void
}

export function Span({ source, id, sought = nothingSought, onChange }: SpanProps) {
  const { data, error, reload } = useLoaded<Row>(`${source} ${id}`, async (signal) => {
    const answer = await query(`select: *\nfrom: ${source}\nfilter: id = ${quoted(id)}`, signal)
    const [row] = answer.data
    if (!row) throw new Error(`There is no record ${id} any more`)
    return row
  })
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!data) return <Loading what="the span" />
  const place = placeOf(source)
  const change = () => {
    reload()
    onChange?.()
  }
  const others = Object.entries(data).filter(([name, value]) => {
    return !otherwiseShown.has(name) && !isNothing(value)
  })
  return (
    <article class="span" aria-label={`Span ${nameOf(data)}`}>
      <header class="span-head">
        <h3 title={nameOf(data)}>{nameOf(data)}</h3>
        <span class={`kind ${typeOf(data)}`}>{typeOf(data)}</span>
        <span class="hint" title={String(data.created)}>
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
      <Metrics row={data} />
      {place && <SpanScores place={place} row={data} onChange={change} />}
      {place && <SpanTags place={place} row={data} onChange={change} />}
      {valueFields.map((field) =>
        field === 'expected' && place ? (
          <SpanExpected key={field} place={place} row={data} sought={sought} onChange={change} />
        ) : isNothing(data[field]) ? null : (
          <section key={field} class={field}>
            <h4>{titleOf(field)}</h4>
            <JsonView value={data[field]} label={field} sought={sought} />
          </section>
        ),
      )}
      {place && <SpanComments place={place} row={data} onChange={change} />}
      {others.length > 0 && (
        <details class="others">
          <summary>All other fields</summary>
          <JsonView value={Object.fromEntries(others)} label="other fields" sought={sought} />
        </details>
      )}
    </article>
  )
}

function titleOf(field: string): string {
  return field.charAt(0).toUpperCase() + field.slice(1)
}

/** Null, and what has nothing in it. */
function isNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}

/** What the span took; when it began and ended is shown by its bar. */
function Metrics({ row }: { readonly row: Row }) {
  const metrics = isObject(row.metrics) ? row.metrics : {}
  const length = durationOf(row)
  const entries = Object.entries(metrics).filter(([name, value]) => {
    return typeof value === 'number' && !['start', 'end', 'duration'].includes(name)
  })
  if (entries.length === 0 && length === undefined) return null
  return (
    <dl class="numbers" aria-label="Metrics">
      {length !== undefined && <Figure name="duration" text={duration(length)} />}
      {entries.map(([name, value]) => (
        <Figure key={name} name={name.replaceAll('_', ' ')} text={metric(name, value)} />
      ))}
    </dl>
  )
}

function metric(name: string, value: unknown): string {
  if (typeof value !== 'number') return ''
  if (/cost/.test(name)) return `$${value.toPrecision(3)}`
  return /duration|time_to/.test(name) ? duration(value) : number(value)
}

function Figure({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </div>
  )
}
