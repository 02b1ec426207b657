/** All of one span, or of one record of a dataset. */
import { number, time } from '../component/format.ts'
import { JsonView } from '../component/json-view.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { useLoaded } from '../service/load.ts'
import { query, quoted, type Row } from '../service/query.ts'

const shownFields = ['input', 'output', 'expected', 'error', 'metadata'] as const

export function Span({ source, id }: { readonly source: string; readonly id: string }) {
  const { data, error, reload } = useLoaded<Row>(`${source} ${id}`, async (signal) => {
    const answer = await query(`select: *\nfrom: ${source}\nfilter: id = ${quoted(id)}`, signal)
    const [row] = answer.data
    if (!row) throw new Error(`There is no record ${id} any more`)
    return row
  })
  if (error) return <Failure error={error} retry={reload} />
  if (!data) return <Loading what="the span" />
  return (
    <div class="span">
      <p class="hint">
        {time(data.created)} · <code>{id}</code>
      </p>
      <Numbers title="Scores" values={data.scores} />
      <Numbers title="Metrics" values={data.metrics} />
      {Array.isArray(data.tags) && data.tags.length > 0 && (
        <p>
          {data.tags.map((tag) => (
            <span class="tag" key={String(tag)}>
              {String(tag)}
            </span>
          ))}
        </p>
      )}
      {shownFields.map((field) =>
        data[field] === null || data[field] === undefined ? null : (
          <section key={field}>
            <h3>{field}</h3>
            <JsonView value={data[field]} label={field} />
          </section>
        ),
      )}
    </div>
  )
}

function Numbers({ title, values }: { readonly title: string; readonly values: unknown }) {
  const entries = typeof values === 'object' && values !== null ? Object.entries(values) : []
  // When a span began and ended is shown by its bar.
  const known = entries.filter(([name, value]) => {
    return typeof value === 'number' && name !== 'start' && name !== 'end'
  })
  if (known.length === 0) return null
  return (
    <dl class="numbers" aria-label={title}>
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{number(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
