/** What the list of experiments shows of each, and in which orders. */
import { age, change, cost, duration, number, score, time } from '../component/format.ts'
import type { Order, PageColumn } from '../component/page-table.tsx'
import { commitOf } from '../service/experiment.ts'
import type { ListedExperiment } from '../service/experiment-list.ts'

type Column = PageColumn<ListedExperiment> & {
  readonly value: (row: ListedExperiment) => number | string | null | undefined
  /** Shown also where no experiment has a value. */
  readonly isUsual?: boolean
}

/** Names of scores in alphabetical order. */
export function scoreNamesOf(experiments: readonly ListedExperiment[]): string[] {
  const names = new Set(experiments.flatMap(({ totals }) => Object.keys(totals?.scores ?? {})))
  return [...names].sort()
}

/** Scores are shown with their difference from those of the baseline, if there is one. */
export function experimentColumns(
  experiments: readonly ListedExperiment[],
  baselineId: string | undefined,
): readonly PageColumn<ListedExperiment>[] {
  const byId = new Map(experiments.map((experiment) => [experiment.id, experiment]))
  const baseline = baselineId === undefined ? undefined : byId.get(baselineId)
  const some = (has: (experiment: ListedExperiment) => boolean) => experiments.some(has)
  const others: readonly PageColumn<ListedExperiment>[] = [
    ...fixed.filter(({ isUsual, value }) => isUsual || some((row) => value(row) != null)),
    ...(some(({ base_exp_id: id }) => id !== null && byId.has(id)) ? [baseColumn(byId)] : []),
    ...(some((row) => commitOf(row) !== '') ? [commitColumn] : []),
    ...(some(({ tags }) => tags !== null && tags.length > 0) ? [tagColumn] : []),
  ]
  return [
    {
      id: 'name',
      title: 'Name',
      width: 170,
      sorts: 'asc',
      hint: ({ name, description }) => (description ? `${name}: ${description}` : name),
      cell: ({ id, name }) => (
        <>
          <strong>{name}</strong>
          {id === baselineId && <span class="tag after">baseline</span>}
        </>
      ),
    },
    ...scoreNamesOf(experiments).map(
      (name): PageColumn<ListedExperiment> => ({
        id: `score.${name}`,
        title: name,
        width: Math.max(90, Math.min(130, name.length * 8 + 28)),
        isNumber: true,
        sorts: 'desc',
        cell: ({ id, totals }) => (
          <Mean
            value={totals?.scores[name]}
            base={id === baselineId ? undefined : baseline?.totals?.scores[name]}
          />
        ),
      }),
    ),
    ...others,
  ]
}

function baseColumn(byId: ReadonlyMap<string, ListedExperiment>): PageColumn<ListedExperiment> {
  return {
    id: 'base',
    title: 'Base',
    width: 130,
    cell: ({ base_exp_id: id }) => (id === null ? '' : (byId.get(id)?.name ?? '')),
  }
}

const commitColumn: PageColumn<ListedExperiment> = {
  id: 'commit',
  title: 'Commit',
  width: 160,
  cell: (row) => <code>{commitOf(row)}</code>,
  hint: ({ repo_info: state }) =>
    [state?.commit, state?.author_name, state?.commit_message].filter(Boolean).join('\n'),
}

const tagColumn: PageColumn<ListedExperiment> = {
  id: 'tags',
  title: 'Tags',
  width: 120,
  cell: ({ tags }) =>
    tags?.map((tag) => (
      <span class="tag" key={tag}>
        {tag}
      </span>
    )),
}

function Mean({
  value,
  base,
}: {
  readonly value: number | undefined
  readonly base: number | undefined
}) {
  if (value === undefined) return null
  return (
    <>
      {base !== undefined && <Change value={value - base} />} {score(value)}
    </>
  )
}

/** A difference of scores, in points. */
export function Change({ value }: { readonly value: number }) {
  const text = change(value)
  const direction = text.startsWith('+') ? 'better' : text.startsWith('−') ? 'worse' : 'same'
  return (
    <span class={`change ${direction}`} title="Difference from the base, in points">
      {text}
    </span>
  )
}

const fixed: readonly Column[] = [
  {
    id: 'examples',
    isUsual: true,
    title: 'Examples',
    width: 94,
    isNumber: true,
    sorts: 'desc',
    value: ({ totals }) => totals?.examples,
    cell: ({ totals }) =>
      totals === null ? <span class="hint">none</span> : number(totals?.examples),
  },
  {
    id: 'errors',
    isUsual: true,
    title: 'Errors',
    width: 74,
    isNumber: true,
    sorts: 'desc',
    value: ({ totals }) => totals?.failedExamples,
    cell: ({ totals }) => (
      <span class={totals && totals.failedExamples > 0 ? 'bad' : undefined}>
        {number(totals?.failedExamples)}
      </span>
    ),
    hint: () => 'Examples with an error somewhere in their trace',
  },
  {
    id: 'duration',
    title: 'Duration',
    width: 92,
    isNumber: true,
    sorts: 'desc',
    value: ({ totals }) => totals?.duration,
    cell: ({ totals }) => duration(totals?.duration),
    hint: () => 'Of an example, on average',
  },
  {
    id: 'tokens',
    title: 'Tokens',
    width: 96,
    isNumber: true,
    sorts: 'desc',
    value: ({ totals }) => totals?.tokens,
    cell: ({ totals }) => number(totals?.tokens),
  },
  {
    id: 'cost',
    title: 'Cost',
    width: 74,
    isNumber: true,
    sorts: 'desc',
    value: ({ totals }) => totals?.cost,
    cell: ({ totals }) => cost(totals?.cost),
  },
  {
    id: 'created',
    isUsual: true,
    title: 'Created',
    width: 100,
    sorts: 'desc',
    value: ({ created }) => created,
    cell: ({ created }) => age(created),
    hint: ({ created }) => time(created),
  },
]

/** The order of the list itself is that of making, newest first. What has no value comes last. */
export function sortedExperiments(
  experiments: readonly ListedExperiment[],
  order: Order | undefined,
): readonly ListedExperiment[] {
  if (!order || order.id === 'created') {
    return order?.isDescending === false ? experiments.toReversed() : experiments
  }
  const sorted = valuesOf(order.id)
  const sign = order.isDescending ? -1 : 1
  return experiments.toSorted((a, b) => {
    const [left, right] = [sorted(a) ?? null, sorted(b) ?? null]
    if (left === null || right === null) return Number(left === null) - Number(right === null)
    if (typeof left === 'string') return sign * left.localeCompare(String(right))
    return sign * (left - Number(right))
  })
}

function valuesOf(id: string): Column['value'] {
  if (id === 'name') return ({ name }) => name
  const fixedColumn = fixed.find((column) => column.id === id)
  if (fixedColumn) return fixedColumn.value
  const name = id.replace(/^score\./, '')
  return ({ totals }) => totals?.scores[name]
}
