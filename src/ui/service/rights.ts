/** What the person who is signed in may do, so that the page offers that and nothing else. */
import type { Permission } from '../../catalog/permission.ts'
import { requestJson } from './client.ts'
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
  type: 'organization' | 'project',
  id: string | undefined,
): Loaded<Rights> {
  const key = id === undefined ? undefined : `rights ${type} ${id}`
  return useLoaded(key, (signal) =>
    requestJson(`/session/rights?object_type=${type}&object_id=${id}`, { signal }),
  )
}
