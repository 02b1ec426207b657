/**
 * What the lists of one principal are looked through for: everything of the organization, or only what
 * hangs at something that it was given. So a list takes no time for what it hides, which would tell
 * that there is something, and a reader of one project does not wait for the others.
 */
import type { Among } from '../catalog/catalog.ts'
import type { EntryKind } from '../catalog/entry.ts'
import type { AccessType } from '../catalog/permission.ts'
import type { ObjectType } from '../type/record.ts'
import { nowhere } from './decide.ts'
import type { Rights } from './rights.ts'
import { atOrganization } from './target.ts'

/** Whoever may read at all finds it there; each entry still has to be decided. */
export type Reach = 'all' | Among

/** For entries of a kind. */
export function reachOf(rights: Rights, kind: EntryKind): Reach {
  const { organizationId, userId } = rights.principal
  const mayInOrganization = (permission: 'read' | 'update', type: AccessType) =>
    rights.may(permission, atOrganization(type, nowhere, organizationId))
  switch (kind) {
    case 'experiment':
    case 'dataset':
    case 'prompt_session':
      return reachInProjects(rights, kind)
    case 'dataset_snapshot': {
      const datasets = reachInProjects(rights, 'dataset')
      if (datasets === 'all') return 'all'
      const found = Array.from(rights.catalog.listAmong('dataset', datasets), ({ id }) => id)
      return { parentIds: found, ids: [] }
    }
    case 'project': {
      const projects = reachInProjects(rights, 'project')
      return projects === 'all' ? 'all' : { parentIds: [], ids: projects.ids }
    }
    case 'project_score':
    case 'project_tag':
    case 'project_automation':
    case 'span_iframe':
    case 'mcp_server':
    case 'agent': {
      const projects = reachInProjects(rights, 'project')
      return projects === 'all' ? 'all' : { parentIds: projects.ids, ids: [] }
    }
    case 'masking_rule': {
      const projects = reachInProjects(rights, 'project')
      return projects === 'all' ? 'all' : { parentIds: [organizationId, ...projects.ids], ids: [] }
    }
    case 'env_var': {
      const projects = reachInProjects(rights, 'project')
      if (projects === 'all') return 'all'
      const functions = rights.placesWith('read', 'prompt', 'prompt')
      return { parentIds: [organizationId, ...projects.ids, ...functions], ids: [] }
    }
    case 'group':
    case 'role':
      if (mayInOrganization('read', kind)) return 'all'
      return { parentIds: [], ids: rights.placesWith('read', kind, kind) }
    case 'api_key':
      if (mayInOrganization('update', 'org_member')) return 'all'
      return { parentIds: [], ids: rights.catalog.referrers('api_key', userId ?? nowhere) }
    default:
      return 'all'
  }
}

/** For entries whose ids objects of the type have. */
export function reachOfObjects(rights: Rights, type: ObjectType): Reach {
  switch (type) {
    case 'experiment':
    case 'dataset':
      return reachInProjects(rights, type)
    case 'playground_logs':
      return reachInProjects(rights, 'prompt_session')
    case 'project_logs':
      return ofProjects(reachInProjects(rights, 'project_log'))
    case 'project_views':
      return ofProjects(reachInProjects(rights, 'project'))
    case 'project_prompts': {
      const prompts = reachInProjects(rights, 'prompt')
      if (prompts === 'all') return 'all'
      const places = prompts.ids.flatMap((id) => rights.projectOfPrompt(id) ?? [])
      return { parentIds: [], ids: [...prompts.parentIds, ...places] }
    }
  }
}

function reachInProjects(rights: Rights, type: AccessType): Reach {
  if (rights.mayInAllProjects('read', type)) return 'all'
  return {
    parentIds: rights.placesWith('read', 'project', type),
    ids: rights.placesWith('read', type, type),
  }
}

/** What has the id of its project: given on the project, or on itself. */
function ofProjects(reach: Reach): Reach {
  return reach === 'all' ? reach : { parentIds: [], ids: [...reach.parentIds, ...reach.ids] }
}
