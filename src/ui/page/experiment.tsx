/** One experiment, or its comparison with others: `?compare=` has their ids. */
import { Link } from '../component/link.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { experimentByName } from '../service/experiment.ts'
import { useLoaded } from '../service/load.ts'
import { useProject } from '../service/project.ts'
import { parameter, parts, pathOf } from '../state/location.ts'
import { Comparison } from './comparison.tsx'
import { ExperimentResults } from './experiment-results.tsx'

export function ExperimentPage({
  projectName,
  name,
}: {
  readonly projectName: string
  readonly name: string
}) {
  const project = useProject(projectName)
  const projectId = project.data?.id
  const key = projectId === undefined ? undefined : `experiment ${projectId} ${name}`
  const experiment = useLoaded(key, (signal) => experimentByName(projectId!, name, signal))
  if (project.error) return <Failure error={project.error} retry={project.reload} />
  if (experiment.error) {
    return (
      <>
        <Failure error={experiment.error} retry={experiment.reload} />
        <p>
          <Link to={pathOf(...parts.value.slice(0, 5))}>All experiments</Link>
        </p>
      </>
    )
  }
  if (!project.data || experiment.data?.name !== name) return <Loading what={name} />
  const others = (parameter('compare') ?? '').split(',').filter((id) => id !== '')
  const comparisonKey = project.data.settings?.comparison_key?.trim() || 'input'
  if (others.length > 0) {
    return (
      <Comparison
        key={experiment.data.id}
        base={experiment.data}
        otherIds={others}
        comparisonKey={comparisonKey}
      />
    )
  }
  return (
    <ExperimentResults
      key={experiment.data.id}
      experiment={experiment.data}
      baselineId={project.data.settings?.baseline_experiment_id}
      comparisonKey={comparisonKey}
    />
  )
}
