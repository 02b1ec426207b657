/** Which experiments stand beside each other, and which of them is the base. */
import { PageHead } from '../component/page-head.tsx'
import { Select } from '../component/select.tsx'
import { type Experiment, listExperiments } from '../service/experiment.ts'
import { useLoaded } from '../service/load.ts'
import { goTo, parameters, parts, pathOf, setParameters } from '../state/location.ts'

/** Experiments that can be added here; others are chosen in the list of all. */
const mostChoices = 100

export function ComparedExperiments({
  base,
  others,
}: {
  readonly base: Experiment
  readonly others: readonly Experiment[]
}) {
  const project = parts.value.slice(0, 5)
  const { data } = useLoaded(`bases ${base.project_id}`, (signal) =>
    listExperiments(base.project_id, { limit: mostChoices }, signal),
  )
  const shown = new Set([base, ...others].map(({ id }) => id))
  const addable = (data ?? []).filter(({ id }) => !shown.has(id))
  const showOthers = (next: readonly string[]) =>
    setParameters({ compare: next.join(','), page: undefined, row: undefined })
  const ids = others.map(({ id }) => id)
  return (
    <PageHead
      from={{ title: 'Experiments', path: pathOf(...project) }}
      title={[base, ...others].map(({ name }) => name).join(' / ')}
    >
      <span>
        Base{' '}
        <Select
          label="Base"
          value={base.id}
          options={optionsOf([base, ...others])}
          onChange={(id) => {
            const next = others.find((each) => each.id === id)
            if (next) goTo(rebased(base, others, next))
          }}
        />
      </span>
      {addable.length > 0 && (
        <span>
          Add{' '}
          <Select
            label="Add"
            value=""
            placeholder="an experiment…"
            options={optionsOf(addable)}
            onChange={(id) => showOthers([...ids, id])}
          />
        </span>
      )}
      {others.length > 1 && (
        <span>
          Remove{' '}
          <Select
            label="Remove"
            value=""
            placeholder="an experiment…"
            options={optionsOf(others)}
            onChange={(gone) => showOthers(ids.filter((id) => id !== gone))}
          />
        </span>
      )}
    </PageHead>
  )
}

function optionsOf(experiments: readonly Experiment[]) {
  return experiments.map(({ id, name }) => ({ value: id, label: name }))
}

/** The same view with another base. */
function rebased(base: Experiment, others: readonly Experiment[], next: Experiment): string {
  const search = new URLSearchParams(parameters.value)
  const rest = [base, ...others].filter(({ id }) => id !== next.id).map(({ id }) => id)
  search.set('compare', rest.join(','))
  search.delete('page')
  search.delete('row')
  return `${pathOf(...parts.value.slice(0, 5), next.name)}?${search}`
}
