/** The examples of an experiment: searched, sorted, grouped, with one of them open beside the table. */

import { useMemo } from 'preact/hooks'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { type Order, PageTable, readOrder, writeOrder } from '../component/page-table.tsx'
import { Select } from '../component/select.tsx'
import { baseOf, type Experiment, experimentsById, summaryOf } from '../service/experiment.ts'
import { groupFields, partnersOf, scoreNamesIn, sortOf } from '../service/experiment-rows.ts'
import { useLoaded } from '../service/load.ts'
import { quoted, type Row } from '../service/query.ts'
import { addressWith, openBeside, parameter, setParameters } from '../state/location.ts'
import { BaseChoice } from './base-choice.tsx'
import { Example } from './example.tsx'
import { exampleColumns, plainColumns } from './example-columns.tsx'
import { useExamplePicks } from './example-picks.tsx'
import { ExperimentGroups } from './experiment-groups.tsx'
import { ExperimentHead } from './experiment-head.tsx'
import { FoundPages, FoundSearch, isNothing, useFoundPage, useFoundWords } from './found-rows.tsx'
import { ScoreCards } from './score-cards.tsx'

export interface ExperimentResultsProps {
  readonly experiment: Experiment
  readonly baselineId: string | null | undefined
  readonly comparisonKey: string
}

export function ExperimentResults(props: ExperimentResultsProps) {
  const { experiment, baselineId, comparisonKey } = props
  const { id } = experiment
  const source = `experiment(${quoted(id)}) summary`
  const found = useFoundWords(source)
  const { words, text, isOfSource } = found
  const filter = words === '' ? null : (found.taken.data?.filter ?? null)
  const order = readOrder(parameter('sort'))
  const groupField = parameter('group')
  const open = parameter('row')

  const base = useBase(experiment, baselineId)
  const baseId = base.data?.base?.id
  const isBaseKnown = base.data !== undefined || base.error !== undefined
  const summary = useLoaded(isBaseKnown ? `summary ${id} ${baseId}` : undefined, (signal) =>
    summaryOf(id, baseId, signal),
  )
  const sort = order && sortOf(order.id, order.isDescending)
  const rows = useFoundPage(groupField === undefined ? text : undefined, { sort })
  const { shown } = rows
  const ids = isOfSource ? shown.map((row) => String(row.id)) : []
  const picks = useExamplePicks({
    ...{ ids, sort, found, projectId: experiment.project_id, experimentId: id },
    total: rows.data?.total,
    isOpen: open !== undefined,
    onChange: () => {
      rows.reload()
      summary.reload()
    },
  })
  const partners = useLoaded(
    baseId === undefined || ids.length === 0 ? undefined : `${baseId} ${ids.join()}`,
    (signal) => partnersOf(ids, { experimentId: id, baseId: baseId!, key: comparisonKey }, signal),
  )
  const fields = useLoaded(`group fields ${id}`, (signal) => groupFields(id, signal))
  const names = summary.data?.scores.map(({ name }) => name) ?? scoreNamesIn(shown)
  const columns = useMemo(
    () =>
      isOfSource
        ? exampleColumns(shown, {
            scoreNames: names,
            partners: partners.data,
            isNarrow: open !== undefined,
          })
        : plainColumns(shown),
    [rows.data, names.join('\n'), partners.data, open !== undefined],
  )
  const isGrouped = groupField !== undefined && text !== undefined
  const isEmpty = isNothing(found, rows)
  const error = found.taken.error ?? rows.error ?? summary.error ?? base.error
  return (
    <div class="experiment">
      <ExperimentHead experiment={experiment}>
        <BaseChoice experiment={experiment} base={base.data?.base} />
      </ExperimentHead>
      {error && <Failure error={error} retry={rows.reload} />}
      {isEmpty ? (
        <NoExamples onReload={rows.reload} />
      ) : (
        <>
          {summary.data ? (
            <ScoreCards
              experimentId={id}
              summary={summary.data}
              filter={filter}
              base={base.data?.base}
              order={order}
            />
          ) : (
            !error && <p class="hint summary-wait">Working out the scores…</p>
          )}
          <FoundSearch source={source} found={found} />
          <div class="tools">
            {groupField === undefined && <SortChoice names={names} order={order} />}
            <GroupChoice fields={fields.data ?? []} chosen={groupField} />
          </div>
          {isGrouped && <ExperimentGroups text={text} field={groupField} filter={filter} />}
          {!isGrouped && !rows.data && <Loading what="examples" />}
          {!isGrouped && rows.data && (
            <div class={open === undefined ? 'beside' : 'beside open'}>
              <PageTable
                label="Examples"
                columns={columns}
                rows={shown}
                rowId={(row: Row) => (isOfSource ? String(row.id) : JSON.stringify(row))}
                {...(isOfSource && {
                  openId: open,
                  onOpen: (row: Row) => openBeside({ row: String(row.id) }),
                  onStep: (row: Row) => setParameters({ row: String(row.id) }),
                  linkOf: (row: Row) => addressWith({ row: String(row.id) }),
                  ...picks.table,
                  order,
                  onOrder: (next) => setParameters({ sort: writeOrder(next), page: undefined }),
                })}
                foot={
                  <FoundPages
                    shown={shown.length}
                    total={rows.data.total ?? shown.length}
                    what={isOfSource ? 'example' : 'row'}
                  />
                }
              />
              {isOfSource && open !== undefined && (
                <Example
                  key={open}
                  experimentId={id}
                  id={open}
                  base={base.data?.base}
                  partner={partners.data?.get(open)}
                  onClose={() => setParameters({ row: undefined, view: undefined })}
                />
              )}
            </div>
          )}
          {picks.bar}
        </>
      )}
    </div>
  )
}

function NoExamples({ onReload }: { readonly onReload: () => void }) {
  return (
    <Empty title="No examples yet" sketch="rows">
      <p>They appear here while the evaluation runs.</p>
      <button type="button" onClick={onReload}>
        Refresh
      </button>
    </Empty>
  )
}

function GroupChoice(props: {
  readonly fields: Awaited<ReturnType<typeof groupFields>>
  readonly chosen: string | undefined
}) {
  return (
    <span>
      Group by{' '}
      <Select
        label="Group by"
        value={props.chosen ?? ''}
        options={[
          { value: '', label: 'Nothing' },
          ...props.fields.map(({ field, distinct }) => ({
            value: field,
            label: `${field} (${distinct})`,
          })),
        ]}
        onChange={(group) => setParameters({ group, row: undefined })}
      />
    </span>
  )
}

/** What `base` in the URL says: an id, `none`, or what is usual. */
function useBase(experiment: Experiment, baselineId: string | null | undefined) {
  const asked = parameter('base')
  return useLoaded(`base ${experiment.id} ${asked} ${baselineId}`, async (signal) => {
    if (asked === 'none') return { base: undefined }
    if (asked === undefined) return { base: await baseOf(experiment, baselineId, signal) }
    const [base] = await experimentsById([asked], signal)
    return { base }
  })
}

function SortChoice({
  names,
  order,
}: {
  readonly names: readonly string[]
  readonly order: Order | undefined
}) {
  const choices = [
    ...names.map((name) => ({ value: `score.${name}`, label: `Worst ${name}` })),
    { value: '-duration', label: 'Slowest' },
    { value: '-tokens', label: 'Most tokens' },
    { value: '-cost', label: 'Most expensive' },
    { value: '-errors', label: 'Most errors' },
  ]
  const current = order ? writeOrder(order) : ''
  const isOther = current !== '' && !choices.some(({ value }) => value === current)
  return (
    <span>
      Sort by{' '}
      <Select
        label="Sort by"
        value={current}
        options={[
          { value: '', label: 'Newest' },
          ...choices,
          ...(isOther ? [{ value: current, label: 'Sorted by a column' }] : []),
        ]}
        onChange={(sort) => setParameters({ sort, page: undefined })}
      />
    </span>
  )
}
