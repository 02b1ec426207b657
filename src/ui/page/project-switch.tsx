/** The project that is shown, and the way to the same page of another. */
import { useState } from 'preact/hooks'
import { Link } from '../component/link.tsx'
import { Failure } from '../component/notice.tsx'
import { Popover } from '../component/popover.tsx'
import { requestJson } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { parts, pathOf } from '../state/location.ts'

export function ProjectSwitch({ project }: { readonly project: string }) {
  return (
    <div class="project-switch">
      <Popover label={<span class="where">{project}</span>} name={`Project ${project}`}>
        <Others project={project} />
      </Popover>
    </div>
  )
}

const mostShown = 50

/** Asked for once it is open. */
function Others({ project }: { readonly project: string }) {
  const [wanted, setWanted] = useState('')
  const { data, error, reload } = useLoaded('projects to switch to', async (signal) => {
    const target = '/v1/project?limit=1000'
    return (await requestJson<{ objects: readonly { name: string }[] }>(target, { signal })).objects
  })
  const [app = '', organization = '', p = '', , section = 'home'] = parts.value
  const part = wanted.trim().toLowerCase()
  const found = (data ?? []).filter(({ name }) => name.toLowerCase().includes(part))
  return (
    <>
      <input
        type="search"
        placeholder="Find a project"
        aria-label="Find a project to switch to"
        value={wanted}
        onInput={(event) => setWanted(event.currentTarget.value)}
      />
      {error && <Failure error={error} retry={reload} />}
      <ul>
        {found.slice(0, mostShown).map(({ name }) => (
          <li key={name}>
            <Link
              to={pathOf(app, organization, p, name, section)}
              class="name"
              isCurrent={name === project}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
      {data && found.length === 0 && <p class="hint">No project is called like that.</p>}
      {found.length > mostShown && <p class="hint">There are more: write a part of the name.</p>}
    </>
  )
}
