/** One experiment, or its comparison with others: `?compare=` has their ids. */
import { experimentByName, experimentsById } from '../service/experiment.ts'
import { useLoaded } from '../service/load.ts'
import { parameter } from '../state/location.ts'
import { Comparison } from './comparison.tsx'
import { ExperimentResults } from './experiment-results.tsx'
import { useNamedObject } from './named-object.tsx'

export function ExperimentPage({
  projectName,
  name,
}: {
  readonly projectName: string
  readonly name: string
}) {
  const options = { kind: 'experiment', projectName, name, find: experimentByName }
  const { project, object: experiment, notice } = useNamedObject(options)
  const compared = (parameter('compare') ?? '').split(',').filter((id) => id !== '')
  const isCompared = compared.length > 0
  const others = useLoaded(isCompared ? `experiments ${compared}` : undefined, (signal) =>
    experimentsById(compared, signal),
  )
  if (notice) return notice
  const comparisonKey = project.settings?.comparison_key?.trim() || 'input'
  if (isCompared) {
    return (
      <Comparison
        key={experiment.id}
        base={experiment}
        others={others}
        comparisonKey={comparisonKey}
      />
    )
  }
  return (
    <ExperimentResults
      key={experiment.id}
      experiment={experiment}
      baselineId={project.settings?.baseline_experiment_id}
      comparisonKey={comparisonKey}
    />
  )
}
