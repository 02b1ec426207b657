/** What the address names within a project: while it is loaded, and where it is not there. */
import type { JSX } from 'preact'
import { Link } from '../component/link.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { type Loaded, useLoaded } from '../service/load.ts'
import { type Project, useProject } from '../service/project.ts'
import { parts, pathOf } from '../state/location.ts'

const nothing = { project: undefined, object: undefined }

interface NamedObject {
  readonly name: string
}

export interface NamedObjectOptions<Data> {
  /** Of one of them, as `dataset`. */
  readonly kind: string
  readonly projectName: string
  readonly name: string
  readonly find: (projectName: string, name: string, signal: AbortSignal) => Promise<Data>
}

interface FoundObject<Data> {
  readonly project: Project
  readonly object: Data
  readonly notice: undefined
}

interface MissingObject {
  readonly project: undefined
  readonly object: undefined
  readonly notice: JSX.Element
}

/** A project and what it has by a name, asked for at once; else what is shown meanwhile. */
export function useNamedObject<Data extends NamedObject>({
  kind,
  projectName,
  name,
  find,
}: NamedObjectOptions<Data>): FoundObject<Data> | MissingObject {
  const project = useProject(projectName)
  const object = useLoaded(`${kind} ${projectName} ${name}`, (signal) =>
    find(projectName, name, signal),
  )
  if (project.error)
    return { ...nothing, notice: <Failure error={project.error} retry={project.reload} /> }
  if (!project.data) return { ...nothing, notice: <Loading what={name} /> }
  if (object.error) return { ...nothing, notice: <NotThere kind={kind} object={object} /> }
  if (object.data?.name !== name) return { ...nothing, notice: <Loading what={name} /> }
  return { project: project.data, object: object.data, notice: undefined }
}

function NotThere({ kind, object }: { readonly kind: string; readonly object: Loaded<unknown> }) {
  return (
    <>
      <Failure error={object.error!} retry={object.reload} />
      <p>
        <Link to={pathOf(...parts.value.slice(0, 5))}>All {kind}s</Link>
      </p>
    </>
  )
}
