/** The experiments of a project: what each came to, and how scores went from one to the next. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { textOf } from '../component/field.tsx'
import { counted } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { PageTable, readOrder, writeOrder } from '../component/page-table.tsx'
import { tellFailure } from '../component/toast.tsx'
import { worstScore } from '../service/comparison.ts'
import { deleteExperiment, renameExperiment, setBaseline } from '../service/experiment.ts'
import { type ListedExperiment, useExperimentList } from '../service/experiment-list.ts'
import { type Project, useProject } from '../service/project.ts'
import { useMay } from '../service/rights.ts'
import { parameter, parts, pathOf, setParameters } from '../state/location.ts'
import { ChosenObjects, useChosen } from './chosen-objects.tsx'
import { experimentColumns, sortedExperiments } from './experiment-columns.tsx'
import { FirstExperiment } from './first-experiment.tsx'
import { ScoreLines } from './score-lines.tsx'

export function Experiments({ projectName }: { readonly projectName: string }) {
  const project = useProject(projectName)
  if (project.error) return <Failure error={project.error} retry={project.reload} />
  if (!project.data) return <Loading what={projectName} />
  return <ExperimentList project={project.data} reloadProject={project.reload} />
}

interface ListProps {
  readonly project: Project
  readonly reloadProject: () => void
}

function ExperimentList({ project, reloadProject }: ListProps) {
  const wanted = parameter('q') ?? ''
  const order = readOrder(parameter('sort'))
  const list = useExperimentList(project.id, wanted !== '' || order !== undefined)
  const { items, error, isLoading, isWhole, more, reload } = list
  const baselineId = project.settings?.baseline_experiment_id ?? undefined
  const chosen = useChosen()
  const columns = useMemo(() => experimentColumns(items, baselineId), [items, baselineId])
  const shown = useMemo(
    () => sortedExperiments(withName(items, wanted), order),
    [items, wanted, order?.id, order?.isDescending],
  )
  const isCounting = items.some(({ totals }) => totals === undefined)
  const end = useEnd(more)
  if (items.length === 0 && error) return <Failure error={error} retry={reload} />
  if (items.length === 0 && isLoading) return <Loading what="experiments" />
  if (items.length === 0) return <FirstExperiment projectName={project.name} />
  return (
    <div class="experiments">
      <header class="page-head">
        <h1>Experiments</h1>
        <input
          type="search"
          placeholder="Find by name"
          aria-label="Find an experiment by name"
          value={wanted}
          onInput={(event) => setParameters({ q: event.currentTarget.value })}
        />
      </header>
      <div class={isCounting ? 'score-room' : undefined}>
        <ScoreLines experiments={items} order={order} />
      </div>
      <ChosenExperiments
        project={project}
        experiments={items.filter(({ id }) => chosen.ids.has(id))}
        onDone={() => {
          chosen.choose(new Set())
          reload()
        }}
        onClear={() => chosen.choose(new Set())}
        onBaseline={reloadProject}
      />
      {error && <Failure error={error} retry={reload} />}
      <PageTable
        label="Experiments"
        columns={columns}
        rows={shown}
        rowId={({ id }) => id}
        rowName={({ name }) => name}
        linkOf={({ name }) => pathOf(...parts.value.slice(0, 5), name)}
        order={order ?? { id: 'created', isDescending: true }}
        onOrder={(next) => setParameters({ sort: writeOrder(next) })}
        chosen={chosen.ids}
        onChoose={chosen.choose}
        foot={
          <p class="hint" role="status" ref={end}>
            {counted(shown.length, 'experiment')}
            {isLoading && ', loading more…'}
            {!isLoading && !isWhole && (
              <button type="button" onClick={more}>
                Load more
              </button>
            )}
          </p>
        }
      />
    </div>
  )
}

function withName(items: readonly ListedExperiment[], wanted: string) {
  const part = wanted.trim().toLowerCase()
  return part === '' ? items : items.filter(({ name }) => name.toLowerCase().includes(part))
}

/** Calls when the element comes into sight. */
function useEnd(reached: () => void) {
  const element = useRef<HTMLParagraphElement>(null)
  const latest = useRef(reached)
  latest.current = reached
  useEffect(() => {
    const end = element.current
    if (!end) return
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current()
    })
    observer.observe(end)
    return () => observer.disconnect()
  })
  return element
}

interface ChosenProps {
  readonly project: Project
  readonly experiments: readonly ListedExperiment[]
  readonly onDone: () => void
  readonly onClear: () => void
  readonly onBaseline: () => void
}

/** What can be done with the experiments that are chosen. */
function ChosenExperiments({ project, experiments, onDone, onClear, onBaseline }: ChosenProps) {
  const may = useMay('project', project.id)
  const baselineId = project.settings?.baseline_experiment_id ?? undefined
  const [first] = experiments
  if (!first) {
    return <p class="hint chosen">Choose two or more experiments to compare them.</p>
  }
  const isOne = experiments.length === 1
  const makeBaseline = () => setBaseline(project.id, first.id).then(onBaseline, tellFailure)
  return (
    <ChosenObjects
      kind="experiment"
      projectId={project.id}
      items={experiments}
      rename={(id, form) => renameExperiment(id, textOf(form, 'name'))}
      remove={deleteExperiment}
      warning="All records are deleted, too. This cannot be undone."
      onDone={onDone}
      onClear={onClear}
    >
      {isOne ? (
        <button type="button" class="primary" disabled title="Choose another experiment, too">
          Compare
        </button>
      ) : (
        <Link class="button primary" to={comparisonPath(experiments, baselineId)}>
          Compare
        </Link>
      )}
      {may('update') && isOne && first.id !== baselineId && (
        <button type="button" onClick={() => void makeBaseline()}>
          Make it the baseline
        </button>
      )}
    </ChosenObjects>
  )
}

/**
 * Others are compared with the baseline if it is among them, else with the oldest; by the score that is
 * looked at first, where the list knows it, so that the comparison need not find it out before its lines.
 */
function comparisonPath(
  experiments: readonly ListedExperiment[],
  baselineId: string | undefined,
): string {
  const base = experiments.find(({ id }) => id === baselineId) ?? experiments.at(-1)!
  const others = experiments.filter(({ id }) => id !== base.id).map(({ id }) => id)
  const known = experiments.flatMap(({ id, totals }) => (totals ? [[id, totals] as const] : []))
  const by = known.length === experiments.length ? worstScore(base.id, new Map(known)) : undefined
  const search = new URLSearchParams({ compare: others.join(','), ...(by !== undefined && { by }) })
  return `${pathOf(...parts.value.slice(0, 5), base.name)}?${search}`
}
