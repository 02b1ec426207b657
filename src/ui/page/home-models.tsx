/** What each model was used for, and cost. */
import { cost, duration, number } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { type ListColumn, ListTable } from '../component/list-table.tsx'
import { Failure } from '../component/notice.tsx'
import type { Loaded } from '../service/load.ts'
import {
  isCall,
  isUse,
  loadModelTimes,
  type ModelUse,
  type Usages,
} from '../service/project-home.ts'
import { quoted } from '../service/query.ts'
import { type Asked, useAsked } from './home-asked.ts'
import { type LogsPlace, logsAddress } from './logs-address.ts'

export function HomeModels({ usages, ...asked }: Asked & { readonly usages: Loaded<Usages> }) {
  const times = useAsked('model times', asked, loadModelTimes)
  const { data } = usages
  const { error, reload } = usages.error ? usages : times
  const { period } = asked
  const rows = (condition: string, model: string | null, more: Partial<LogsPlace> = {}) => {
    const isModel = model === null ? 'metadata.model is null' : `metadata.model = ${quoted(model)}`
    const text = `${isModel} and ${condition}`
    return logsAddress({ span: period, rowsAre: 'spans', text, ...more })
  }
  const most = Math.max(0, ...(data?.models ?? []).map((each) => each.cost ?? 0))
  const columns: readonly ListColumn<ModelUse>[] = [
    {
      title: 'Model',
      cell: ({ model }) => (
        <Link to={rows(isUse, model)}>{model ?? <span class="hint">not given</span>}</Link>
      ),
    },
    {
      title: 'Calls',
      isNumber: true,
      cell: ({ model, calls }) => <Link to={rows(isCall, model)}>{number(calls)}</Link>,
    },
    {
      title: 'Errors',
      isNumber: true,
      cell: ({ model, errors }) =>
        errors === 0 ? (
          '0'
        ) : (
          <Link class="bad" to={rows(`${isUse} and error is not null`, model)}>
            {number(errors)}
          </Link>
        ),
    },
    { title: 'p50', isNumber: true, cell: ({ model }) => duration(times.data?.get(model)?.p50) },
    {
      title: 'p95',
      isNumber: true,
      cell: ({ model }) => {
        const p95 = times.data?.get(model)?.p95
        return (
          typeof p95 === 'number' && (
            <Link
              to={rows(
                `span_attributes.type = 'llm' and metrics.end - metrics.start >= ${p95}`,
                model,
                { sort: { column: 'duration', isDescending: true } },
              )}
            >
              {duration(p95)}
            </Link>
          )
        )
      },
    },
    { title: 'Tokens', isNumber: true, cell: ({ tokens }) => number(tokens) },
    {
      title: 'Cost',
      isNumber: true,
      cell: ({ model, cost: dollars }) =>
        dollars !== null && (
          <span class="cost-share">
            <Link to={rows('estimated_cost() is not null', model)}>{cost(dollars)}</Link>
            <span class="share" aria-hidden="true">
              <span style={{ width: `${most > 0 ? (dollars / most) * 100 : 0}%` }} />
            </span>
          </span>
        ),
    },
  ]
  return (
    <section class="home-part" aria-label="Models">
      <h2>Models</h2>
      {error && <Failure error={error} retry={reload} />}
      {!data && !error && <p class="hint room">…</p>}
      {data?.models.length === 0 && <p class="hint">No model was called.</p>}
      {data && data.models.length > 0 && (
        <ListTable
          label="Models"
          columns={columns}
          items={data.models}
          itemId={({ model }) => JSON.stringify(model)}
        />
      )}
      {data?.hasMoreModels && <p class="hint">Those are the dearest; there are more.</p>}
    </section>
  )
}
