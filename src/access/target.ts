/** Where the objects are that rights are given on. */
import type { Catalog, CatalogObject } from '../catalog/catalog.ts'
import type { EntryKind } from '../catalog/entry.ts'
import type { AccessType } from '../catalog/permission.ts'
import type { ObjectType } from '../type/record.ts'
import { nowhere, type Target } from './decide.ts'

/** Finds objects for one organization. */
export interface Places {
  readonly catalog: Catalog
  /** The project that a prompt or function of the organization is in: they are rows, no entries. */
  projectOfPrompt(id: string): string | undefined
}

/**
 * The object of this type and id; undefined when it is not there. As much is looked up for what is not
 * there as for what is.
 */
export function targetOf(places: Places, type: AccessType, id: string): Target | undefined {
  const { catalog } = places
  switch (type) {
    case 'organization':
    case 'org_member':
    case 'org_project':
    case 'org_audit_logs':
    case 'org_ai_secret':
      return catalog.get('organization', id) && atOrganization(type, id, id)
    case 'group':
    case 'role':
    case 'project_group':
    case 'ai_secret': {
      const organizationId = catalog.get(type, id)?.org_id
      return organizationId ? atOrganization(type, id, organizationId) : undefined
    }
    case 'project': {
      const project = catalog.get('project', id)
      return project && atOrganization(type, id, project.org_id)
    }
    case 'project_log':
      return inProject(catalog, type, id, id)
    case 'experiment':
    case 'dataset':
    case 'prompt_session': {
      return inProject(catalog, type, id, catalog.get(type, id)?.project_id ?? nowhere)
    }
    case 'prompt':
      return inProject(catalog, type, id, places.projectOfPrompt(id) ?? nowhere)
  }
}

/** Types of what an object of the type may have in it; those of `Target.projectId` for a project. */
export function typesWithin(type: AccessType): readonly AccessType[] {
  if (type === 'organization') return ['org_member', 'org_audit_logs', 'project', 'group', 'role']
  if (type !== 'project') return []
  return ['experiment', 'dataset', 'prompt', 'prompt_session', 'project_log']
}

/** Something that hangs at the organization, or still will when it has no id. */
export function atOrganization(
  type: AccessType,
  id: string | undefined,
  organizationId: string,
): Target {
  return { type, id, projectId: undefined, organizationId }
}

/** Something in a project, or to be there; undefined when there is no such project. */
export function inProject(
  catalog: Catalog,
  type: AccessType,
  id: string | undefined,
  projectId: string,
): Target | undefined {
  const organizationId = catalog.get('project', projectId)?.org_id
  return organizationId === undefined ? undefined : { type, id, projectId, organizationId }
}

/** What holds records, as something that rights are given on. */
export function recordsTarget({ type, id, projectId, organizationId }: CatalogObject): Target {
  switch (type) {
    case 'project_logs':
      return { type: 'project_log', id, projectId, organizationId }
    case 'playground_logs':
      return { type: 'prompt_session', id, projectId, organizationId }
    case 'project_prompts':
      // All prompts of the project at once.
      return { type: 'prompt', id: undefined, projectId, organizationId }
    case 'project_views':
      return atOrganization('project', projectId, organizationId)
    case 'experiment':
    case 'dataset':
      return { type, id, projectId, organizationId }
  }
}

/** The kind of entry whose id objects of the type have. */
export function kindOfObject(type: ObjectType): EntryKind {
  if (type === 'playground_logs') return 'prompt_session'
  return type === 'experiment' || type === 'dataset' ? type : 'project'
}
