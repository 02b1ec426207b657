/** One example of an experiment beside the table: its values, what changed against the base, its trace. */
import { score } from '../component/format.ts'
import { Icon } from '../component/icon.tsx'
import { JsonView } from '../component/json-view.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { TabPanel, Tabs } from '../component/tabs.tsx'
import { comparableText, TextDifference } from '../component/text-difference.tsx'
import type { Experiment } from '../service/experiment.ts'
import { exampleOf, type Partner, scoreNamesIn } from '../service/experiment-rows.ts'
import { useLoaded } from '../service/load.ts'
import { at, quoted, type Row } from '../service/query.ts'
import { addressWith, openBeside, parameter, setParameters } from '../state/location.ts'
import { Change } from './experiment-columns.tsx'
import { fieldTitle, SpanMetrics } from './span-metrics.tsx'
import { Trace } from './trace.tsx'

export interface ExampleProps {
  readonly experimentId: string
  readonly id: string
  readonly base: Experiment | undefined
  readonly partner: Partner | undefined
  readonly onClose: () => void
}

export function Example({ experimentId, id, base, partner, onClose }: ExampleProps) {
  const { data, error, reload } = useLoaded(`example ${experimentId} ${id}`, (signal) =>
    exampleOf(experimentId, id, signal),
  )
  const before = useLoaded(
    base && partner ? `example ${base.id} ${partner.id}` : undefined,
    (signal) => exampleOf(base!.id, partner!.id, signal),
  )
  const view = parameter('view') ?? 'values'
  const tabs = [
    { id: 'values', title: 'Values' },
    ...(partner ? [{ id: 'changes', title: `Changes from ${base?.name ?? 'the base'}` }] : []),
    { id: 'trace', title: 'Trace' },
  ]
  const shown = tabs.some((tab) => tab.id === view) ? view : 'values'
  return (
    <section class="trace example" aria-label="Example">
      <header class="page-head">
        <Tabs
          label="Example"
          tabs={tabs}
          current={shown}
          onChoose={(next) => openBeside({ view: next, span: undefined })}
          linkOf={(next) => addressWith({ view: next, span: undefined })}
        />
        <button type="button" onClick={onClose} aria-label="Close the example">
          <Icon name="close" />
        </button>
      </header>
      {error && <Failure error={error} retry={reload} />}
      {before.error && <Failure error={before.error} retry={before.reload} />}
      <TabPanel label="Example" current={shown}>
        {!data ? (
          <Loading what="the example" />
        ) : shown === 'trace' ? (
          <Trace
            source={`experiment(${quoted(experimentId)})`}
            rootSpanId={String(data.root_span_id)}
            onClose={() => setParameters({ view: undefined, span: undefined })}
          />
        ) : shown === 'changes' && before.data ? (
          <Changes before={before.data} after={data} />
        ) : (
          <Values row={data} partner={partner} />
        )}
      </TabPanel>
    </section>
  )
}

const shownFields = ['error', 'input', 'output', 'expected', 'metadata'] as const

function Values({ row, partner }: { readonly row: Row; readonly partner: Partner | undefined }) {
  return (
    <div class="span">
      <dl class="numbers" aria-label="Scores">
        {scoreNamesIn([row]).map((name) => {
          const change = partner?.scoreChanges[name]
          return (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {score(at(row, 'scores', name))} {change !== undefined && <Change value={change} />}
              </dd>
            </div>
          )
        })}
      </dl>
      <SpanMetrics row={row} />
      {shownFields.map((field) =>
        row[field] === null || row[field] === undefined ? null : (
          <section key={field}>
            <h3>{fieldTitle(field)}</h3>
            <JsonView value={row[field]} label={field} />
          </section>
        ),
      )}
    </div>
  )
}

const comparedFields = ['output', 'error', 'metadata'] as const

function Changes({ before, after }: { readonly before: Row; readonly after: Row }) {
  return (
    <div class="span">
      {comparedFields.map((field) => {
        const [old, now] = [comparableText(before[field]), comparableText(after[field])]
        if (old === '' && now === '') return null
        return (
          <section key={field}>
            <h3>{fieldTitle(field)}</h3>
            {old === now ? (
              <p class="hint">The same as before</p>
            ) : (
              <TextDifference before={old} after={now} />
            )}
          </section>
        )
      })}
    </div>
  )
}
