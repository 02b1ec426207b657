import type { ComponentChildren } from 'preact'
import { Link } from '../component/link.tsx'
import { PageHead } from '../component/page-head.tsx'
import { When } from '../component/when.tsx'
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
  const facts = (
    <>
      {description && <span>{description}</span>}
      <span>
        created <When at={created} />
      </span>
      {commit !== '' && (
        <code title={[repo_info?.author_name, repo_info?.commit_message].join('\n')}>{commit}</code>
      )}
      {dataset.data && (
        <span>
          from{' '}
          <Link to={pathOf(...project, 'datasets', dataset.data.name)}>{dataset.data.name}</Link>
        </span>
      )}
      {tags?.map((tag) => (
        <span class="tag" key={tag}>
          {tag}
        </span>
      ))}
    </>
  )
  return (
    <PageHead
      from={{ title: 'Experiments', path: pathOf(...project, 'experiments') }}
      title={name}
      facts={facts}
    >
      {children}
    </PageHead>
  )
}
