/** What the person who is signed in may do, so that the page offers that and nothing else. */
import type { Permission } from '../../catalog/permission.ts'
import { requestJson } from './client.ts'
import type { RecordPlace } from './feedback.ts'
import { type Loaded, useLoaded } from './load.ts'

export interface Rights {
  /** Of the whole organization. */
  readonly owner: boolean
  readonly permissions: readonly Permission[]
  /** On all of a type in the object, and on what is made there. */
  readonly within: Readonly<Record<string, readonly Permission[]>>
}

/** @param id undefined asks nothing yet */
export function useRights(
  type: 'organization' | 'project' | 'experiment' | 'dataset',
  id: string | undefined,
): Loaded<Rights> {
  const key = id === undefined ? undefined : `rights ${type} ${id}`
  return useLoaded(key, (signal) =>
    requestJson(`/session/rights?object_type=${type}&object_id=${id}`, { signal }),
  )
}

/**
 * Whether a permission is given on one object; undefined until that is known. What is read meanwhile would jump where
 * controls come beside it, and keys that change something must not come too early.
 */
export function useMay(
  type: 'project' | 'experiment' | 'dataset',
  id: string | undefined,
): (permission: Permission) => boolean | undefined {
  const rights = useRights(type, id)
  return (permission) => isGiven(rights, permission, ({ permissions }) => permissions)
}

/** Undefined until the rights are known; false where they cannot be asked for. */
function isGiven(
  { data, error }: Loaded<Rights>,
  permission: Permission,
  permissionsOf: (rights: Rights) => readonly Permission[] | undefined,
): boolean | undefined {
  if (!data) return error ? false : undefined
  return permissionsOf(data)?.includes(permission) ?? false
}

/** Whether one may change records of an object; undefined until that is known. */
export function useMayChangeRecords(place: RecordPlace | undefined): boolean | undefined {
  const isOfLogs = place?.type === 'project_logs'
  const type = isOfLogs ? 'project' : (place?.type ?? 'project')
  const rights = useRights(type, place?.objectId)
  if (!place) return false
  return isGiven(rights, 'update', ({ within, permissions }) =>
    isOfLogs ? within.project_log : permissions,
  )
}

/**
 * Whether a permission is given on all of some objects of a project: as one on all of their type there,
 * or, of a single object, on it alone.
 */
export function useMayOnAll(
  type: 'experiment' | 'dataset',
  projectId: string,
  ids: readonly string[],
): (permission: Permission) => boolean | undefined {
  const { data } = useRights('project', projectId)
  const mayOnOne = useMay(type, ids.length === 1 ? ids[0] : undefined)
  return (permission) => data?.within[type]?.includes(permission) || mayOnOne(permission)
}
