/** `assay orgs`, `assay members` and `assay keys`. */
import { AssayError } from '../../error.ts'
import {
  type AdminOptions,
  entryOf,
  type Fields,
  listAll,
  userOf,
  withConnection,
} from './connection.ts'
import { printEntries, printSecret } from './print.ts'

export function listOrganizations(options: AdminOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    printEntries(await connection.organizations(), ['id', 'name', 'created'], options)
  })
}

export function createOrganization(
  name: string,
  options: AdminOptions & { readonly owner: string },
): Promise<void> {
  return withConnection(options, async (connection) => {
    const made = await connection.createOrganization(name, options.owner)
    printEntries([made], ['id', 'name', 'created'], options)
  })
}

export function renameOrganization(name: string, options: AdminOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { objects } = await connection.call('GET', '/v1/organization')
    const [{ id } = {}] = objects as readonly Fields[]
    const renamed = await connection.call('PATCH', `/v1/organization/${String(id)}`, { name })
    printEntries([renamed], ['id', 'name', 'created'], options)
  })
}

const memberColumns = ['id', 'email', 'given_name', 'family_name', 'created']

export function listMembers(options: AdminOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    printEntries(await listAll(connection, '/v1/user'), memberColumns, options)
  })
}

export interface InviteOptions extends AdminOptions {
  readonly group?: readonly string[]
  /** The names are those of programs, not addresses of people. */
  readonly service?: boolean
  readonly token?: string
}

export function addMembers(who: readonly string[], options: InviteOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { group = [], service, token } = options
    const accounts = who.map((name) => ({
      name,
      ...(token !== undefined && { token_name: token }),
    }))
    const invited = service ? { service_accounts: accounts } : { emails: who }
    const invite_users = { ...invited, group_names: group }
    const answer = await connection.call('PATCH', '/v1/organization/members', { invite_users })
    if (service) {
      for (const account of answer.added_users as readonly Fields[]) {
        const { api_key: key, ...rest } = account
        if (key === undefined) printEntries([rest], ['id', 'email'], options)
        else printSecret({ ...rest, key }, options)
      }
      return
    }
    const wanted = new Set(who.map((one) => one.toLowerCase()))
    const people = await listAll(connection, '/v1/user')
    const added = people.filter(({ email }) => wanted.has(String(email).toLowerCase()))
    printEntries(added, memberColumns, options)
  })
}

export function removeMembers(who: readonly string[], options: AdminOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const users = []
    for (const one of who) users.push(await userOf(connection, one))
    const ids = users.map(({ id }) => id)
    await connection.call('PATCH', '/v1/organization/members', { remove_users: { ids } })
    printEntries(users, memberColumns, options)
  })
}

const keyColumns = ['id', 'name', 'preview_name', 'user_email', 'created', 'used']

export function listKeys(options: AdminOptions & { readonly service?: boolean }): Promise<void> {
  return withConnection(options, async (connection) => {
    const path = options.service ? '/v1/service_token' : '/v1/api_key'
    const columns = options.service
      ? ['id', 'name', 'preview_name', 'service_account_name', 'created', 'used']
      : keyColumns
    printEntries(await listAll(connection, path), columns, options)
  })
}

export interface CreateKeyOptions extends AdminOptions {
  readonly user?: string
  /** Name or id of a service account: a token of it is made. */
  readonly account?: string
}

export function createKey(name: string, options: CreateKeyOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { user, account } = options
    if (account === undefined) {
      printSecret(await connection.createKey(name, user), options)
      return
    }
    if (user !== undefined) {
      throw new AssayError('COMMAND_INVALID', 'give either --user or --account')
    }
    const isAccount = ({ given_name }: Fields) => given_name
    const { id } = await entryOf(connection, '/v1/user', 'service account', account, isAccount)
    const body = { name, service_account_id: id }
    printSecret(await connection.call('POST', '/v1/service_token', body), options)
  })
}

export function revokeKeys(
  ids: readonly string[],
  options: AdminOptions & { readonly service?: boolean },
): Promise<void> {
  return withConnection(options, async (connection) => {
    const path = options.service ? '/v1/service_token' : '/v1/api_key'
    for (const id of ids) {
      const revoked = await connection.call('DELETE', `${path}/${encodeURIComponent(id)}`)
      printEntries([revoked], ['id', 'name', 'preview_name'], options)
    }
  })
}
