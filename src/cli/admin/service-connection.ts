import { AssayError } from '../../error.ts'
import { Client } from '../client.ts'
import type { AdminConnection, AdminOptions, Fields } from './admin-connection.ts'

/** Asks a running service, with the rights of the key's owner. */
export class ServiceConnection implements AdminConnection {
  readonly #client: Client
  readonly #organization: string | undefined

  constructor({ url, key, org }: AdminOptions) {
    this.#client = new Client({ url, ...(key !== undefined && { key }) })
    this.#organization = org
  }

  async call(method: string, path: string, body?: object): Promise<Fields> {
    await this.#checkOrganization()
    return this.#client.request(method, path, { ...(body && { body: JSON.stringify(body) }) })
  }

  async organizations(): Promise<readonly Fields[]> {
    const { objects } = await this.#client.request('GET', '/v1/organization')
    return objects as readonly Fields[]
  }

  createOrganization(): Promise<Fields> {
    throw new AssayError('COMMAND_INVALID', 'a key is of one organization and makes no others', {
      hint: 'stop the service and use --data-dir',
    })
  }

  async createKey(
    name: string,
    user: string | undefined,
    expires_at: string | null,
  ): Promise<Fields> {
    await this.#checkOrganization()
    return this.#client.request('POST', '/v1/api_key', {
      body: JSON.stringify({ name, expires_at }),
      ...(user !== undefined && { headers: { 'x-bt-impersonate-user': user } }),
    })
  }

  async close(): Promise<void> {}

  async #checkOrganization(): Promise<void> {
    const wanted = this.#organization
    if (wanted === undefined) return
    const [own] = await this.organizations()
    if (own?.id === wanted || own?.name === wanted) return
    throw new AssayError('COMMAND_FAILED', `the key is not of the organization "${wanted}"`)
  }
}
