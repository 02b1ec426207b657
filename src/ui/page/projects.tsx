/** The projects of the organization: found, opened, made, renamed and deleted. */
import { useState } from 'preact/hooks'
import { age, counted, time } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { Menu } from '../component/menu.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { requestJson } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { type Activity, activityOf } from '../service/project-activity.ts'
import { session } from '../service/session.ts'
import { parameter, pathOf, setParameters } from '../state/location.ts'
import { FirstProject } from './first-lines.tsx'
import { type ListedProject, ProjectDialog, type ProjectTask } from './project-dialogs.tsx'

export function Projects() {
  const { data, error, isLoading, reload } = useLoaded('projects', async (signal) => {
    const target = '/v1/project?limit=1000'
    const answer = await requestJson<{ objects: readonly ListedProject[] }>(target, { signal })
    return answer.objects
  })
  const ids = data?.map(({ id }) => id)
  const activity = useLoaded(ids && `activity ${ids.join()}`, (signal) => {
    return activityOf(ids ?? [], signal)
  })
  const [task, setTask] = useState<ProjectTask>()
  const wanted = parameter('find') ?? ''
  if (error) return <Failure error={error} retry={reload} />
  if (!data) return isLoading ? <Loading what="projects" /> : null
  const lastOf = ({ id, created }: ListedProject) => activity.data?.get(id)?.last ?? created
  const shown = data
    .filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()))
    .sort((a, b) => lastOf(b).localeCompare(lastOf(a)))
  return (
    <>
      <header class="page-head">
        <h1>Projects</h1>
        <div class="tools">
          {data.length > 0 && (
            <input
              type="search"
              placeholder="Find a project"
              aria-label="Find a project"
              value={wanted}
              onInput={(event) => setParameters({ find: event.currentTarget.value })}
            />
          )}
          <button type="button" class="primary" onClick={() => setTask({ kind: 'create' })}>
            New project
          </button>
        </div>
      </header>
      {data.length === 0 && <FirstProject />}
      {data.length > 0 && shown.length === 0 && <p class="hint">No project is called like that.</p>}
      <ul class="cards">
        {shown.map((project) => (
          <Card
            key={project.id}
            project={project}
            activity={activity.data?.get(project.id)}
            isCounted={activity.data !== undefined}
            onTask={setTask}
          />
        ))}
      </ul>
      {task && <ProjectDialog task={task} onClose={() => setTask(undefined)} onDone={reload} />}
    </>
  )
}

function Card({
  project,
  activity,
  isCounted,
  onTask,
}: {
  readonly project: ListedProject
  readonly activity: Activity | undefined
  readonly isCounted: boolean
  readonly onTask: (task: ProjectTask) => void
}) {
  const { name, description, created } = project
  const organization = session.value?.organization.name ?? ''
  const last = activity?.last ?? created
  return (
    <li class="project">
      <Link to={pathOf('app', organization, 'p', name, 'logs')} class="card">
        <strong>{name}</strong>
        {description && <span>{description}</span>}
        <span>
          {activity ? counted(activity.spans, 'span') : isCounted ? 'No logs yet' : '…'}
          {' · '}
          <time dateTime={last} title={time(last)}>
            {activity ? `last ${age(last)}` : `made ${age(last)}`}
          </time>
        </span>
      </Link>
      <Menu
        label="⋯"
        name={`More for ${name}`}
        items={[
          { label: 'Rename…', onChoose: () => onTask({ kind: 'rename', project }) },
          { label: 'Delete…', onChoose: () => onTask({ kind: 'delete', project }) },
        ]}
      />
    </li>
  )
}
