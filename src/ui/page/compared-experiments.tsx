/** Which experiments stand beside each other, and which of them is the base. */
import { PageHead } from '../component/page-head.tsx'
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
      <label>
        Base{' '}
        <select
          value={base.id}
          onChange={(event) => {
            const next = others.find(({ id }) => id === event.currentTarget.value)
            if (next) goTo(rebased(base, others, next))
          }}
        >
          {[base, ...others].map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {addable.length > 0 && (
        <label>
          Add{' '}
          <select value="" onChange={(event) => showOthers([...ids, event.currentTarget.value])}>
            <option value="">an experiment…</option>
            {addable.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {others.length > 1 && (
        <label>
          Remove{' '}
          <select
            value=""
            onChange={(event) => {
              const gone = event.currentTarget.value
              showOthers(ids.filter((id) => id !== gone))
            }}
          >
            <option value="">an experiment…</option>
            {others.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
    </PageHead>
  )
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
