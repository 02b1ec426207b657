/** How administrators reach an organization. */
import { AssayError } from '../../error.ts'

export interface AdminOptions {
  /** A data directory; wins over the service. */
  readonly dataDir?: string
  readonly url: string
  readonly key?: string
  /** Name or id of the organization, where there are several. */
  readonly org?: string
  readonly json?: boolean
}

export type Fields = { readonly [name: string]: unknown }

export interface AdminConnection {
  /** Asks for what `/v1` has, as a client would. Throws the error that is answered. */
  call(method: string, path: string, body?: object): Promise<Fields>
  organizations(): Promise<readonly Fields[]>
  /** Makes an organization with an owner. */
  createOrganization(name: string, ownerEmail: string): Promise<Fields>
  /** A key of the user with this id or e-mail address; of the caller without one. */
  createKey(name: string, user: string | undefined, expires_at: string | null): Promise<Fields>
  close(): Promise<void>
}

/** All of a list, page by page. */
export async function listAll(
  connection: AdminConnection,
  path: string,
): Promise<readonly Fields[]> {
  const all: Fields[] = []
  for (;;) {
    const last = all.at(-1)?.id
    const after = last === undefined ? '' : `&starting_after=${String(last)}`
    const separator = path.includes('?') ? '&' : '?'
    const { objects } = await connection.call('GET', `${path}${separator}limit=1000${after}`)
    const page = objects as readonly Fields[]
    all.push(...page)
    if (page.length < 1000) return all
  }
}

/** The entry of a list that has the id, or alone has the name. */
export async function entryOf(
  connection: AdminConnection,
  path: string,
  what: string,
  idOrName: string,
  nameOf: (entry: Fields) => unknown = ({ name }) => name,
): Promise<Fields> {
  const entries = await listAll(connection, path)
  const byId = entries.find(({ id }) => id === idOrName)
  const byName = entries.filter((entry) => nameOf(entry) === idOrName)
  if (byId ?? byName.length === 1) return byId ?? byName[0]!
  const count = byName.length === 0 ? 'there is no' : 'there are several'
  const message = `${count} ${what} "${idOrName}"`
  throw new AssayError('COMMAND_FAILED', message, { hint: `give the id of the ${what}` })
}

/** The user of an id or e-mail address. */
export function userOf(connection: AdminConnection, idOrEmail: string): Promise<Fields> {
  const wanted = idOrEmail.toLowerCase()
  const emailOf = ({ email }: Fields) => (typeof email === 'string' ? email.toLowerCase() : null)
  return entryOf(connection, '/v1/user', 'member', wanted, emailOf)
}
