/** The projects of the organization: found, opened, made, renamed and deleted. */
import { useState } from 'preact/hooks'
import type { Permission } from '../../catalog/permission.ts'
import { counted } from '../component/format.ts'
import { Icon } from '../component/icon.tsx'
import { Link } from '../component/link.tsx'
import { Menu } from '../component/menu.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { When } from '../component/when.tsx'
import { requestJson } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { type Activity, activityOf } from '../service/project-activity.ts'
import { useRights } from '../service/rights.ts'
import { session } from '../service/session.ts'
import { parameter, pathOf, setParameters } from '../state/location.ts'
import { openWindow } from '../state/opened.ts'
import { FirstProject } from './first-lines.tsx'
import { type ListedProject, ProjectDialog } from './project-dialogs.tsx'

export function Projects() {
  const { data, error, reload } = useLoaded('projects', async (signal) => {
    const target = '/v1/project?limit=1000'
    const answer = await requestJson<{ objects: readonly ListedProject[] }>(target, { signal })
    return answer.objects
  })
  const ids = data?.map(({ id }) => id)
  const activity = useLoaded(ids && `activity ${ids.join()}`, (signal) => {
    return activityOf(ids ?? [], signal)
  })
  const organization = session.value?.organization
  const { data: rights } = useRights('organization', organization?.id)
  const mayAll = (permission: Permission) => rights?.within.project?.includes(permission) ?? false
  const wanted = parameter('find') ?? ''
  if (error) return <Failure error={error} retry={reload} />
  if (!data) return <Loading what="projects" />
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
          {mayAll('create') && (
            <button type="button" class="primary" onClick={() => openWindow('create')}>
              New project
            </button>
          )}
        </div>
      </header>
      {data.length === 0 && <FirstProject />}
      {data.length > 0 && shown.length === 0 && <p class="hint">No project has that name.</p>}
      <ul class="cards">
        {shown.map((project) => (
          <Card
            key={project.id}
            project={project}
            activity={activity.data?.get(project.id)}
            isCounted={activity.data !== undefined}
          />
        ))}
      </ul>
      <ProjectDialog projects={data} mayCreate={mayAll('create')} onDone={reload} />
    </>
  )
}

function Card({
  project,
  activity,
  isCounted,
}: {
  readonly project: ListedProject
  readonly activity: Activity | undefined
  readonly isCounted: boolean
}) {
  const { name, description, created } = project
  const organization = session.value?.organization.name ?? ''
  const last = activity?.last ?? created
  return (
    <li class="project">
      <Link to={pathOf('app', organization, 'p', name, 'home')} class="card">
        <strong>{name}</strong>
        {description && <span>{description}</span>}
        <span>
          {activity ? counted(activity.spans, 'span') : isCounted ? 'No logs yet' : '…'}
          {' · '}
          {activity ? 'last' : 'made'} <When at={last} />
        </span>
      </Link>
      <ProjectMenu project={project} />
    </li>
  )
}

/** What may be done with a project is asked for when somebody wants to do something with it. */
function ProjectMenu({ project: { id, name } }: { readonly project: ListedProject }) {
  const [isAsked, setAsked] = useState(false)
  const { data } = useRights('project', isAsked ? id : undefined)
  const items = [
    { label: 'Rename…', kind: 'rename', permission: 'update' },
    { label: 'Delete…', kind: 'delete', permission: 'delete' },
  ] as const
  return (
    <Menu
      label={<Icon name="more" />}
      name={`More for ${name}`}
      onOpen={() => setAsked(true)}
      items={items.map(({ label, kind, permission }) => {
        const isAllowed = data?.permissions.includes(permission) ?? false
        return {
          label,
          detail: data && !isAllowed ? `takes the right to ${permission} it` : undefined,
          isDisabled: !isAllowed,
          onChoose: () => openWindow(kind, id),
        }
      })}
    />
  )
}
