import { useState } from 'preact/hooks'
import { Link } from '../component/link.tsx'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { requestJson } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { session } from '../service/session.ts'
import { goTo, pathOf } from '../state/location.ts'

interface Project {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly created: string
}

/** The projects of the organization, and how to make one. */
export function Projects() {
  const { data, error, isLoading, reload } = useLoaded('projects', async (signal) => {
    const answer = await requestJson<{ objects: readonly Project[] }>('/v1/project?limit=1000', {
      signal,
    })
    return answer.objects
  })
  const [wanted, setWanted] = useState('')
  const organization = session.value?.organization.name ?? ''
  if (error) return <Failure error={error} retry={reload} />
  if (!data) return isLoading ? <Loading what="projects" /> : null
  const shown = data.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()))
  const create = async (event: SubmitEvent) => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get('name')).trim()
    if (name === '') return
    await requestJson<Project>('/v1/project', { body: { name } })
    goTo(pathOf('app', organization, 'p', name, 'logs'))
  }
  return (
    <>
      <header class="page-head">
        <h1>Projects</h1>
        <input
          type="search"
          placeholder="Find a project"
          aria-label="Find a project"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
      </header>
      {data.length === 0 ? (
        <Empty title="No projects yet">
          <p>
            A project holds logs, experiments and datasets. The first write to one makes it, too.
          </p>
        </Empty>
      ) : (
        <ul class="cards">
          {shown.map(({ id, name, description, created }) => (
            <li key={id}>
              <Link to={pathOf('app', organization, 'p', name, 'logs')} class="card">
                <strong>{name}</strong>
                <span>{description ?? ''}</span>
                <time dateTime={created}>since {created.slice(0, 10)}</time>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <form class="inline" onSubmit={create}>
        <input name="name" aria-label="Name of a new project" placeholder="Name" required />
        <button type="submit">New project</button>
      </form>
    </>
  )
}
