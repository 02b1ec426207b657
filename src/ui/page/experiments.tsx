/** The experiments of a project: what each came to, and how scores went from one to the next. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Confirm, FormDialog } from '../component/dialog.tsx'
import { TextField, textOf } from '../component/field.tsx'
import { number } from '../component/format.ts'
import { Failure, Loading } from '../component/notice.tsx'
import { PageTable, readOrder, writeOrder } from '../component/page-table.tsx'
import { deleteExperiment, renameExperiment, setBaseline } from '../service/experiment.ts'
import { type ListedExperiment, useExperimentList } from '../service/experiment-list.ts'
import { type Project, useProject } from '../service/project.ts'
import { goTo, parameter, parts, pathOf, setParameters } from '../state/location.ts'
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
  const chosenIds = new Set((parameter('chosen') ?? '').split(',').filter((id) => id !== ''))
  const columns = useMemo(() => experimentColumns(items, baselineId), [items, baselineId])
  const shown = useMemo(
    () => sortedExperiments(withName(items, wanted), order),
    [items, wanted, order?.id, order?.isDescending],
  )
  const choose = (ids: ReadonlySet<string>) => setParameters({ chosen: [...ids].join(',') })
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
      <ScoreLines experiments={items} order={order} />
      <Chosen
        experiments={items.filter(({ id }) => chosenIds.has(id))}
        baselineId={baselineId}
        onDone={() => {
          choose(new Set())
          reload()
        }}
        onClear={() => choose(new Set())}
        onBaseline={reloadProject}
      />
      {error && <Failure error={error} retry={reload} />}
      <PageTable
        label="Experiments"
        columns={columns}
        rows={shown}
        rowId={({ id }) => id}
        rowName={({ name }) => name}
        onOpen={({ name }) => goTo(pathOf(...parts.value.slice(0, 5), name))}
        order={order ?? { id: 'created', isDescending: true }}
        onOrder={(next) => setParameters({ sort: writeOrder(next) })}
        chosen={chosenIds}
        onChoose={choose}
        foot={
          <p class="hint" role="status" ref={end}>
            {number(shown.length)} experiments
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
  readonly experiments: readonly ListedExperiment[]
  readonly baselineId: string | undefined
  readonly onDone: () => void
  readonly onClear: () => void
  readonly onBaseline: () => void
}

/** What can be done with the experiments that are chosen. */
function Chosen({ experiments, baselineId, onDone, onClear, onBaseline }: ChosenProps) {
  const [asked, setAsked] = useState<'rename' | 'delete'>()
  const close = () => setAsked(undefined)
  const [first] = experiments
  if (!first) {
    return <p class="hint chosen">Choose two or more experiments to compare them.</p>
  }
  const isOne = experiments.length === 1
  const names = isOne ? `“${first.name}”` : `${experiments.length} experiments`
  return (
    <div class="chosen" role="toolbar" aria-label="Chosen experiments">
      <strong>{isOne ? first.name : `${experiments.length} chosen`}</strong>
      <button
        type="button"
        class="primary"
        disabled={isOne}
        title={isOne ? 'Choose another experiment, too' : undefined}
        onClick={() => goTo(comparisonPath(experiments, baselineId))}
      >
        Compare
      </button>
      <button type="button" disabled={!isOne} onClick={() => setAsked('rename')}>
        Rename
      </button>
      <button
        type="button"
        disabled={!isOne || first.id === baselineId}
        onClick={() => void setBaseline(first.project_id, first.id).then(onBaseline)}
      >
        Make it the baseline
      </button>
      <button type="button" class="danger" onClick={() => setAsked('delete')}>
        Delete
      </button>
      <button type="button" class="plain" onClick={onClear}>
        Clear
      </button>
      {asked === 'rename' && (
        <FormDialog
          title={`Rename “${first.name}”`}
          verb="Rename"
          onClose={close}
          onSubmit={async (form) => {
            await renameExperiment(first.id, textOf(form, 'name'))
            close()
            onDone()
          }}
        >
          <TextField label="Name" name="name" value={first.name} isRequired isFirst />
        </FormDialog>
      )}
      {asked === 'delete' && (
        <Confirm
          title={`Delete ${names}?`}
          verb="Delete"
          onClose={close}
          onConfirm={async () => {
            for (const { id } of experiments) await deleteExperiment(id)
            onDone()
          }}
        >
          <p>All their records are deleted, too. This cannot be undone.</p>
        </Confirm>
      )}
    </div>
  )
}

/** Others are compared with the baseline if it is among them, else with the oldest. */
function comparisonPath(
  experiments: readonly ListedExperiment[],
  baselineId: string | undefined,
): string {
  const base = experiments.find(({ id }) => id === baselineId) ?? experiments.at(-1)!
  const others = experiments.filter(({ id }) => id !== base.id).map(({ id }) => id)
  return `${pathOf(...parts.value.slice(0, 5), base.name)}?compare=${others.join(',')}`
}
