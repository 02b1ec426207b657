/** One experiment, or its comparison with others: `?compare=` has their ids. */
import { experimentByName } from '../service/experiment.ts'
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
  if (notice) return notice
  const others = (parameter('compare') ?? '').split(',').filter((id) => id !== '')
  const comparisonKey = project.settings?.comparison_key?.trim() || 'input'
  if (others.length > 0) {
    return (
      <Comparison
        key={experiment.id}
        base={experiment}
        otherIds={others}
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
