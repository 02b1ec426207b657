/** The newest experiments, and how each did beside the one before it. */
import { cost, duration, number, score } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { type ListColumn, ListTable } from '../component/list-table.tsx'
import { Failure } from '../component/notice.tsx'
import { When } from '../component/when.tsx'
import { useLoaded } from '../service/load.ts'
import { loadNewExperiments, type NewExperiment } from '../service/project-home.ts'
import { parts, pathOf } from '../state/location.ts'
import { Change } from './experiment-columns.tsx'

const mostScores = 4

export function HomeExperiments({
  projectId,
  round,
  isSilent = false,
}: {
  readonly projectId: string
  readonly round: number
  /** Says nothing where there is none. */
  readonly isSilent?: boolean
}) {
  const { data, error, reload } = useLoaded(`experiments ${projectId} ${round}`, (signal) =>
    loadNewExperiments(projectId, signal),
  )
  const list = pathOf(...parts.value.slice(0, 4), 'experiments')
  if (isSilent && !data?.length) return null
  const names = scoreNames(data ?? [])
  const columns: readonly ListColumn<NewExperiment>[] = [
    {
      title: 'Experiment',
      cell: ({ name }) => <Link to={`${list}${pathOf(name)}`}>{name}</Link>,
    },
    {
      title: 'Created',
      cell: ({ created }) => <When at={created} />,
    },
    { title: 'Examples', isNumber: true, cell: ({ totals }) => number(totals?.examples) },
    {
      title: 'With errors',
      isNumber: true,
      cell: ({ totals }) => (
        <span class={totals && totals.failedExamples > 0 ? 'bad' : undefined}>
          {number(totals?.failedExamples)}
        </span>
      ),
    },
    ...names.map(
      (name): ListColumn<NewExperiment> => ({
        title: name,
        isNumber: true,
        cell: ({ totals, previous }) => {
          const value = totals?.scores[name]
          const base = previous?.scores[name]
          if (value === undefined) return null
          return (
            <>
              {base !== undefined && <Change value={value - base} />} {score(value)}
            </>
          )
        },
      }),
    ),
    { title: 'Duration', isNumber: true, cell: ({ totals }) => duration(totals?.duration) },
    { title: 'Cost', isNumber: true, cell: ({ totals }) => cost(totals?.cost) },
  ]
  return (
    <section class="home-part" aria-label="Newest experiments">
      <h2>
        Newest experiments <Link to={list}>All</Link>
      </h2>
      {error && <Failure error={error} retry={reload} />}
      {!data && !error && <p class="hint">…</p>}
      {data?.length === 0 && <p class="hint">There are no experiments yet.</p>}
      {data && data.length > 0 && (
        <ListTable
          label="Newest experiments"
          columns={columns}
          items={data}
          itemId={({ id }) => id}
        />
      )}
    </section>
  )
}

/** Those that most of them have. */
function scoreNames(experiments: readonly NewExperiment[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { totals } of experiments) {
    for (const name of Object.keys(totals?.scores ?? {})) {
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  return [...counts]
    .sort(([a, x], [b, y]) => y - x || a.localeCompare(b))
    .slice(0, mostScores)
    .map(([name]) => name)
    .sort()
}
