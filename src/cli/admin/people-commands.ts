/** `assay orgs`, `assay members` and `assay keys`. */
import { expiryOf } from '../../access/key-expiry.ts'
import { AssayError } from '../../error.ts'
import { type AdminOptions, entryOf, type Fields, listAll, userOf } from './admin-connection.ts'
import { withConnection } from './connection.ts'
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

const keyColumns = ['id', 'name', 'preview_name', 'user_email', 'created', 'used', 'expires_at']

export function listKeys(options: AdminOptions & { readonly service?: boolean }): Promise<void> {
  return withConnection(options, async (connection) => {
    const path = options.service ? '/v1/service_token' : '/v1/api_key'
    const columns = options.service
      ? ['id', 'name', 'preview_name', 'service_account_name', 'created', 'used', 'expires_at']
      : keyColumns
    printEntries(await listAll(connection, path), columns, options)
  })
}

export interface CreateKeyOptions extends AdminOptions {
  readonly user?: string
  /** Name or id of a service account: a token of it is made. */
  readonly account?: string
  readonly expiresIn?: string
  readonly expiresAt?: string
}

export function createKey(name: string, options: CreateKeyOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { user, account } = options
    const expires_at = expiryIn(options)
    if (account === undefined) {
      printSecret(await connection.createKey(name, user, expires_at), options)
      return
    }
    if (user !== undefined) {
      throw new AssayError('COMMAND_INVALID', 'give either --user or --account')
    }
    const isAccount = ({ given_name }: Fields) => given_name
    const { id } = await entryOf(connection, '/v1/user', 'service account', account, isAccount)
    const body = { name, service_account_id: id, expires_at }
    printSecret(await connection.call('POST', '/v1/service_token', body), options)
  })
}

const unitSeconds: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
])

/** The time that a command names in one way or the other; null for never. */
function expiryIn({ expiresIn, expiresAt }: CreateKeyOptions): string | null {
  if (expiresIn !== undefined && expiresAt !== undefined) {
    throw new AssayError('COMMAND_INVALID', 'give either --expires-in or --expires-at')
  }
  if (expiresIn !== undefined) {
    const [, count, unit = ''] = /^(\d{1,12})([smhd]?)$/.exec(expiresIn) ?? []
    if (count === undefined) {
      throw new AssayError('COMMAND_INVALID', `--expires-in ${expiresIn} is no time`, {
        hint: 'give a number of days, hours, minutes or seconds: 30d, 12h, 15m, 900',
      })
    }
    return expiryOf({ token_expires_in_seconds: Number(count) * unitSeconds.get(unit)! })
  }
  if (expiresAt === undefined) return null
  const ms = Date.parse(expiresAt)
  if (!Number.isNaN(ms)) return expiryOf({ expires_at: new Date(ms).toISOString() })
  throw new AssayError('COMMAND_INVALID', `--expires-at ${expiresAt} is no time`, {
    hint: 'give a time like 2027-01-31 or 2027-01-31T12:00:00Z',
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
