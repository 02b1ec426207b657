import { Link } from '../component/link.tsx'
import { Select } from '../component/select.tsx'
import { type Experiment, listExperiments } from '../service/experiment.ts'
import { useLoaded } from '../service/load.ts'
import { parts, pathOf, setParameters } from '../state/location.ts'

/** Experiments to choose from; others are chosen in the list of all. */
const mostChoices = 100

/** Which experiment the results are held against. */
export function BaseChoice({
  experiment,
  base,
}: {
  readonly experiment: Experiment
  readonly base: Experiment | undefined
}) {
  const { data } = useLoaded(`bases ${experiment.project_id}`, (signal) =>
    listExperiments(experiment.project_id, { limit: mostChoices }, signal),
  )
  const others = (data ?? []).filter(({ id }) => id !== experiment.id)
  const choices = base && !others.some(({ id }) => id === base.id) ? [base, ...others] : others
  if (choices.length === 0) return null
  return (
    <>
      <span>
        Compare with{' '}
        <Select
          label="Compare with"
          value={base?.id ?? 'none'}
          options={[
            { value: 'none', label: 'Nothing' },
            ...choices.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={(id) => setParameters({ base: id })}
        />
      </span>
      {base && (
        <Link class="button" to={besidePath(base, experiment)}>
          Side by side
        </Link>
      )}
    </>
  )
}

function besidePath(base: Experiment, experiment: Experiment): string {
  return `${pathOf(...parts.value.slice(0, 5), base.name)}?compare=${experiment.id}`
}
