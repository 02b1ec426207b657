/** Which right each kind of entry of the catalog asks for, and on what. */
import type { Entries, EntryKind, Given } from '../catalog/entry.ts'
import type { AccessType, Permission } from '../catalog/permission.ts'
import { nowhere, type Target } from './decide.ts'
import { atOrganization, inProject, type Places, targetOf } from './target.ts'

export type Action = 'read' | 'create' | 'update' | 'delete'

/** What somebody must have: a permission; or only be in the organization, or be one of its owners. */
export type Right =
  | { readonly kind: 'permission'; readonly permission: Permission; readonly target: Target }
  | { readonly kind: 'member'; readonly organizationId: string }
  | { readonly kind: 'owner'; readonly organizationId: string }

/** An entry, or what one is to be made of, which has no id yet. */
export type Described<K extends EntryKind> = Entries[K] | Given<K>

/** Stands for an entry that is not there, so that as much is done for it as for one that is. */
export function absent<K extends EntryKind>(_: K): Described<K> {
  return nothing as unknown as Described<K>
}

/** Every field by which an entry says where it belongs. */
const nothing = {
  id: nowhere,
  org_id: nowhere,
  project_id: nowhere,
  dataset_id: nowhere,
  object_type: 'project',
  object_id: nowhere,
  _object_org_id: nowhere,
  user_id: nowhere,
} as const

/** Undefined when what the entry hangs at is not there. */
export function rightTo<K extends EntryKind>(
  places: Places,
  action: Action,
  kind: K,
  entry: Described<K>,
): Right | undefined {
  return (rules[kind] as Rule<K>)(entry, action, places)
}

type Rule<K extends EntryKind> = (
  entry: Described<K>,
  action: Action,
  places: Places,
) => Right | undefined

const rules: { readonly [K in EntryKind]: Rule<K> } = {
  organization: ({ id }, action) =>
    id === undefined || action === 'read'
      ? member(id)
      : allowed(action, atOrganization('organization', id, id)),
  // A user is in several organizations; what may be seen and changed is being in one of them.
  user: () => undefined,
  member: ({ org_id }, action) => allowed(action, atOrganization('org_member', org_id, org_id)),
  api_key: ({ org_id }) => allowed('update', atOrganization('org_member', org_id, org_id)),
  service_token: ({ org_id }) => ({ kind: 'owner', organizationId: org_id }),
  // Nobody sees or changes them: signing in does.
  password: () => undefined,
  session: () => undefined,
  identity: () => undefined,
  role: ({ id, org_id }, action) =>
    typeof org_id === 'string' ? allowed(action, atOrganization('role', id, org_id)) : undefined,
  group: ({ id, org_id }, action) => allowed(action, atOrganization('group', id, org_id)),
  environment: ofOrganization,
  ai_secret: ({ id, org_id }, action) =>
    action === 'read' ? member(org_id) : allowed('update', atOrganization('ai_secret', id, org_id)),
  org_automation: ofOrganization,
  project: ({ id, org_id }, action) => allowed(action, atOrganization('project', id, org_id)),
  masking_rule: ({ org_id, project_id }, action, places) =>
    typeof project_id === 'string'
      ? ofProject({ project_id }, action, places)
      : ofOrganization({ org_id }, action),
  project_group: ({ id, org_id }, action) =>
    action === 'read'
      ? member(org_id)
      : allowed(action, atOrganization('project_group', id, org_id)),
  experiment: ({ id, project_id }, action, { catalog }) =>
    allowed(action, inProject(catalog, 'experiment', id, project_id)),
  dataset: ({ id, project_id }, action, { catalog }) =>
    allowed(action, inProject(catalog, 'dataset', id, project_id)),
  prompt_session: ({ id, project_id }, action, { catalog }) =>
    allowed(action, inProject(catalog, 'prompt_session', id, project_id)),
  dataset_snapshot: ({ dataset_id }, action, places) =>
    part(action, targetOf(places, 'dataset', dataset_id)),
  project_score: ofProject,
  project_tag: ofProject,
  project_automation: ofProject,
  span_iframe: ofProject,
  mcp_server: ofProject,
  agent: ofProject,
  environment_object: ofObject,
  view: ofObject,
  env_var: ({ object_type, object_id }, action, places) =>
    part(action, targetOf(places, object_type === 'function' ? 'prompt' : object_type, object_id)),
  acl: ({ object_type, object_id }, action, places) =>
    allowed(`${action}_acls`, targetOf(places, object_type, object_id)),
}

/** Everybody in the organization sees it; changing it is changing the organization. */
function ofOrganization({ org_id }: { readonly org_id: string }, action: Action) {
  return action === 'read'
    ? member(org_id)
    : allowed('update', atOrganization('organization', org_id, org_id))
}

function ofProject(
  { project_id }: { readonly project_id: string },
  action: Action,
  places: Places,
) {
  return part(action, targetOf(places, 'project', project_id))
}

function ofObject(
  { object_type, object_id }: { readonly object_type: AccessType; readonly object_id: string },
  action: Action,
  places: Places,
) {
  return part(action, targetOf(places, object_type, object_id))
}

/** What belongs to an object is changed by who may update that. */
function part(action: Action, target: Target | undefined): Right | undefined {
  return allowed(action === 'read' ? 'read' : 'update', target)
}

function allowed(permission: Permission, target: Target | undefined): Right | undefined {
  return target && { kind: 'permission', permission, target }
}

function member(organizationId: string | undefined): Right | undefined {
  return organizationId === undefined ? undefined : { kind: 'member', organizationId }
}
