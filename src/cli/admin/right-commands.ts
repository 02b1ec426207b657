/** `assay roles`, `assay groups` and `assay acls`. */
import { AssayError } from '../../error.ts'
import {
  type AdminConnection,
  type AdminOptions,
  entryOf,
  type Fields,
  listAll,
  userOf,
} from './admin-connection.ts'
import { withConnection } from './connection.ts'
import { printEntries } from './print.ts'

const roleColumns = ['id', 'name', 'description', 'member_permissions', 'member_roles']
const groupColumns = ['id', 'name', 'description', 'member_users', 'member_groups']

export function listRoles(options: AdminOptions): Promise<void> {
  return list('/v1/role', roleColumns, options)
}

export function listGroups(options: AdminOptions): Promise<void> {
  return list('/v1/group', groupColumns, options)
}

export interface RoleOptions extends AdminOptions {
  readonly description?: string
  readonly permission?: readonly string[]
  readonly removePermission?: readonly string[]
  readonly role?: readonly string[]
  readonly removeRole?: readonly string[]
  readonly name?: string
}

export function createRole(name: string, options: RoleOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const made = await connection.call('POST', '/v1/role', {
      name,
      description: options.description,
      member_permissions: options.permission?.map(permissionOf) ?? [],
      member_roles: await idsOf(connection, 'role', options.role),
    })
    printEntries([made], roleColumns, options)
  })
}

export function updateRole(role: string, options: RoleOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { id } = await entryOf(connection, '/v1/role', 'role', role)
    const changed = await connection.call('PATCH', `/v1/role/${String(id)}`, {
      name: options.name,
      description: options.description,
      add_member_permissions: options.permission?.map(permissionOf),
      remove_member_permissions: options.removePermission?.map(permissionOf),
      add_member_roles: await idsOf(connection, 'role', options.role),
      remove_member_roles: await idsOf(connection, 'role', options.removeRole),
    })
    printEntries([changed], roleColumns, options)
  })
}

export interface GroupOptions extends AdminOptions {
  readonly description?: string
  readonly user?: readonly string[]
  readonly removeUser?: readonly string[]
  readonly group?: readonly string[]
  readonly removeGroup?: readonly string[]
  readonly name?: string
}

export function createGroup(name: string, options: GroupOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const made = await connection.call('POST', '/v1/group', {
      name,
      description: options.description,
      member_users: await userIdsOf(connection, options.user),
      member_groups: await idsOf(connection, 'group', options.group),
    })
    printEntries([made], groupColumns, options)
  })
}

export function updateGroup(group: string, options: GroupOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { id } = await entryOf(connection, '/v1/group', 'group', group)
    const changed = await connection.call('PATCH', `/v1/group/${String(id)}`, {
      name: options.name,
      description: options.description,
      add_member_users: await userIdsOf(connection, options.user),
      remove_member_users: await userIdsOf(connection, options.removeUser),
      add_member_groups: await idsOf(connection, 'group', options.group),
      remove_member_groups: await idsOf(connection, 'group', options.removeGroup),
    })
    printEntries([changed], groupColumns, options)
  })
}

export function remove(
  kind: 'role' | 'group',
  which: readonly string[],
  options: AdminOptions,
): Promise<void> {
  return withConnection(options, async (connection) => {
    for (const one of which) {
      const { id } = await entryOf(connection, `/v1/${kind}`, kind, one)
      const removed = await connection.call('DELETE', `/v1/${kind}/${String(id)}`)
      printEntries([removed], ['id', 'name', 'deleted_at'], options)
    }
  })
}

const aclColumns = [
  'id',
  'object_type',
  'object_id',
  'user_id',
  'group_id',
  'permission',
  'restrict_object_type',
  'role_id',
]

export function listAcls(options: AdminOptions & { readonly on?: string }): Promise<void> {
  return withConnection(options, async (connection) => {
    if (options.on === undefined) {
      const all = await connection.call('GET', '/v1/acl/list_org?limit=10000')
      printEntries(all as unknown as readonly Fields[], aclColumns, options)
      return
    }
    const { object_type, object_id } = await objectOf(connection, options.on)
    const path = `/v1/acl?object_type=${object_type}&object_id=${object_id}`
    printEntries(await listAll(connection, path), aclColumns, options)
  })
}

export interface AclOptions extends AdminOptions {
  readonly on: string
  readonly to: string
  readonly give: string
}

export function changeAcl(method: 'POST' | 'DELETE', options: AclOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const acl = {
      ...(await objectOf(connection, options.on)),
      ...(await subjectOf(connection, options.to)),
      ...(await givenOf(connection, options.give)),
    }
    printEntries([await connection.call(method, '/v1/acl', acl)], aclColumns, options)
  })
}

function list(path: string, columns: readonly string[], options: AdminOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    printEntries(await listAll(connection, path), columns, options)
  })
}

/** `read`, or `read:dataset` where it is for objects of one type. */
function permissionOf(text: string): { permission: string; restrict_object_type?: string } {
  const [permission = '', restrict_object_type] = text.split(':')
  return { permission, ...(restrict_object_type !== undefined && { restrict_object_type }) }
}

async function idsOf(
  connection: AdminConnection,
  kind: 'role' | 'group',
  which: readonly string[] | undefined,
): Promise<unknown[] | undefined> {
  if (which === undefined) return undefined
  const ids = []
  for (const one of which) ids.push((await entryOf(connection, `/v1/${kind}`, kind, one)).id)
  return ids
}

async function userIdsOf(
  connection: AdminConnection,
  which: readonly string[] | undefined,
): Promise<unknown[] | undefined> {
  if (which === undefined) return undefined
  const ids = []
  for (const one of which) ids.push((await userOf(connection, one)).id)
  return ids
}

const ofOrganization = [
  'organization',
  'org_member',
  'org_project',
  'org_audit_logs',
  'org_ai_secret',
]
const named: ReadonlyMap<string, string> = new Map([
  ['project', '/v1/project'],
  ['project_log', '/v1/project'],
  ['experiment', '/v1/experiment'],
  ['dataset', '/v1/dataset'],
  ['prompt_session', '/v1/prompt_session'],
  ['role', '/v1/role'],
  ['group', '/v1/group'],
  ['project_group', '/v1/project_group'],
  ['ai_secret', '/v1/ai_secret'],
])

/** `organization` and its parts alone; `project:NAME_OR_ID` and the like. */
async function objectOf(connection: AdminConnection, text: string) {
  const [object_type = '', ...rest] = text.split(':')
  const which = rest.join(':')
  if (ofOrganization.includes(object_type) && which === '') {
    const { objects } = await connection.call('GET', '/v1/organization')
    const [{ id } = {}] = objects as readonly Fields[]
    return { object_type, object_id: String(id) }
  }
  if (object_type === 'prompt' && which !== '') return { object_type, object_id: which }
  const path = named.get(object_type)
  if (path === undefined || which === '') {
    const forms = [...ofOrganization, ...[...named.keys(), 'prompt'].map((type) => `${type}:…`)]
    throw new AssayError('COMMAND_INVALID', `"${text}" is no object`, {
      hint: `give one of ${forms.join(', ')}, with a name or id after the colon`,
    })
  }
  const { id } = await entryOf(connection, path, object_type, which)
  return { object_type, object_id: String(id) }
}

async function subjectOf(connection: AdminConnection, text: string) {
  const [kind, ...rest] = text.split(':')
  const which = rest.join(':')
  if (kind === 'user' && which !== '') return { user_id: (await userOf(connection, which)).id }
  if (kind === 'group' && which !== '') {
    return { group_id: (await entryOf(connection, '/v1/group', 'group', which)).id }
  }
  throw new AssayError('COMMAND_INVALID', `"${text}" is nobody`, {
    hint: 'give user:EMAIL, user:ID, group:NAME or group:ID',
  })
}

async function givenOf(connection: AdminConnection, text: string) {
  if (!text.startsWith('role:')) return permissionOf(text)
  const role = text.slice('role:'.length)
  return { role_id: (await entryOf(connection, '/v1/role', 'role', role)).id }
}
