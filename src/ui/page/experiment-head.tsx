import type { ComponentChildren } from 'preact'
import { age, time } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { requestJson } from '../service/client.ts'
import { commitOf, type Experiment } from '../service/experiment.ts'
import { useLoaded } from '../service/load.ts'
import { parts, pathOf } from '../state/location.ts'

/** What an experiment is, and what it was made of. */
export function ExperimentHead({
  experiment,
  children,
}: {
  readonly experiment: Experiment
  readonly children?: ComponentChildren
}) {
  const { name, description, created, tags, dataset_id, repo_info } = experiment
  const project = parts.value.slice(0, 4)
  const dataset = useLoaded(dataset_id === null ? undefined : `dataset ${dataset_id}`, (signal) =>
    requestJson<{ readonly name: string }>(`/v1/dataset/${dataset_id}`, { signal }),
  )
  const commit = commitOf(experiment)
  return (
    <header class="page-head">
      <div class="titles">
        <p class="crumbs">
          <Link to={pathOf(...project, 'experiments')}>Experiments</Link>
        </p>
        <h1>{name}</h1>
        <p class="hint facts">
          {description && <span>{description}</span>}
          <span title={time(created)}>made {age(created)}</span>
          {commit !== '' && (
            <code title={[repo_info?.author_name, repo_info?.commit_message].join('\n')}>
              {commit}
            </code>
          )}
          {dataset.data && (
            <span>
              from{' '}
              <Link to={pathOf(...project, 'datasets', dataset.data.name)}>
                {dataset.data.name}
              </Link>
            </span>
          )}
          {tags?.map((tag) => (
            <span class="tag" key={tag}>
              {tag}
            </span>
          ))}
        </p>
      </div>
      <div class="tools">{children}</div>
    </header>
  )
}
