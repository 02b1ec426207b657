import { Access } from '../../access/access.ts'
import { prepareOrganizations } from '../../access/bootstrap.ts'
import type { Gate } from '../../access/gate.ts'
import { foundOrganization } from '../../access/organization.ts'
import { projectOfPrompt } from '../../access/prompt-place.ts'
import { system } from '../../catalog/audit-trail.ts'
import { Catalog } from '../../catalog/catalog.ts'
import type { Organization } from '../../catalog/entry.ts'
import { AssayError } from '../../error.ts'
import { accessRoutes } from '../../server/resource/access-routes.ts'
import { catalogResources } from '../../server/resource/resources.ts'
import { Router } from '../../server/route.ts'
import { openDirectory as openFiles } from '../../storage/directory/open-directory.ts'
import { openRecords } from '../../storage/environment.ts'
import { RecordReader } from '../../storage/read/record-reader.ts'
import { parseExactJson } from '../../type/exact-json.ts'
import { type AdminConnection, type Fields, userOf } from './admin-connection.ts'

/**
 * Opens a data directory that no service has open. Whoever can do that may do everything, so no key is
 * asked for; the audit trail has no user for what is done.
 */
export async function openDirectory(
  dataDirectory: string,
  organization: string | undefined,
): Promise<AdminConnection> {
  const lock = await openFiles(dataDirectory, (message) =>
    process.stderr.write(`assay: ${message}\n`),
  )
  try {
    const records = openRecords(dataDirectory, { readOnly: false })
    const catalog = new Catalog(records)
    const rows = new RecordReader(records)
    const access = new Access(catalog, {
      projectOfPrompt: (organizationId, id) => projectOfPrompt(catalog, rows, organizationId, id),
    })
    await prepareOrganizations(access)
    const close = async () => {
      await records.root.close()
      await lock.release()
    }
    return new DirectoryConnection(access, organization, close)
  } catch (error) {
    await lock.release()
    throw error
  }
}

class DirectoryConnection implements AdminConnection {
  readonly close: () => Promise<void>
  readonly #access: Access
  readonly #wanted: string | undefined
  /** The routes of the service themselves, so that both ways have the same rules. */
  readonly #router = new Router([...catalogResources, ...accessRoutes])

  constructor(access: Access, organization: string | undefined, close: () => Promise<void>) {
    this.#access = access
    this.#wanted = organization
    this.close = close
  }

  async call(method: string, path: string, body?: object): Promise<Fields> {
    const { pathname, searchParams } = new URL(path, 'http://localhost')
    const { route, parameters } = this.#router.match(method, pathname)
    if (route.access !== 'key') throw new AssayError('INTERNAL', `${path} needs no rights`)
    const whole = Buffer.from(body ? JSON.stringify(body) : '')
    const request = {
      method,
      url: path,
      parameters,
      query: searchParams,
      headers: new Map<string, string>(),
      address: '',
      signal: new AbortController().signal,
      cancel: () => undefined,
      keepChecking: () => undefined,
      gateNow: () => this.#gate(),
      body: Promise.resolve(whole),
      whole,
    }
    const reply = await route.handle(request, this.#gate())
    return parseExactJson(String(reply.body)) as Fields
  }

  async organizations(): Promise<readonly Fields[]> {
    return [...this.#access.catalog.list('organization')]
  }

  async createOrganization(name: string, ownerEmail: string): Promise<Fields> {
    return this.#access.catalog.change(system, (change) => {
      const known = change.named('user', '', ownerEmail.toLowerCase())
      const owner = known ?? change.create('user', { email: ownerEmail })
      return foundOrganization(change, name, [owner.id])
    })
  }

  async createKey(
    name: string,
    user: string | undefined,
    expires_at: string | null,
  ): Promise<Fields> {
    if (user === undefined) {
      throw new AssayError('COMMAND_INVALID', 'whose key is it to be?', { hint: 'give --user' })
    }
    const { id } = await userOf(this, user)
    const owner = { org_id: this.#organization().id, user_id: String(id) }
    const { key, text } = await this.#access.issueKey(owner, name, undefined, expires_at)
    return { id: key.id, name, user_id: key.user_id, expires_at: key.expires_at, key: text }
  }

  #gate(): Gate {
    const { id } = this.#organization()
    return this.#access.gate({ userId: null, organizationId: id, keyId: null })
  }

  #organization(): Organization {
    const all = [...this.#access.catalog.list('organization')]
    const wanted = this.#wanted
    const found = all.filter(
      ({ id, name }) => wanted === undefined || id === wanted || name === wanted,
    )
    if (found.length === 1) return found[0]!
    const names = all.map(({ id, name }) => `${name} (${id})`).join(', ')
    throw new AssayError(
      'COMMAND_INVALID',
      found.length > 1 ? 'there are several organizations' : 'there is no such organization',
      { hint: all.length === 0 ? 'make one: assay orgs create' : `give --org: ${names}` },
    )
  }
}
