/** Signing in by the provider as a browser does, and what can be done in between. */
import { callbackPath, openIdPath } from '../../src/server/openid/sign-in.ts'
import { IdentityProvider, type ProviderOptions } from './identity-provider.ts'
import { type AnyJson, RunningService } from './running-service.ts'
import { type WebAnswer, WebClient } from './web-client.ts'

export interface SignedIn {
  readonly client: WebClient
  readonly session: AnyJson
}

/** A service with a provider beside it, which knows where to send people back to. */
export class ProvidedService {
  readonly idp: IdentityProvider
  service: RunningService
  readonly #options: Partial<ProviderOptions>

  private constructor(
    idp: IdentityProvider,
    service: RunningService,
    options: Partial<ProviderOptions>,
  ) {
    this.idp = idp
    this.service = service
    this.#options = options
    this.provide()
  }

  static async start(
    environment: Record<string, string> = {},
    options: Partial<ProviderOptions> = {},
  ): Promise<ProvidedService> {
    const idp = await IdentityProvider.start()
    // It is looked for at the start, and told afterwards where the service is.
    idp.serve({ callback: 'http://127.0.0.1/', signedOut: 'http://127.0.0.1/' })
    const service = await RunningService.start(idp.environment(environment))
    return new ProvidedService(idp, service, options)
  }

  /** Sessions that people have at the provider end; options take the place of those of the start. */
  provide(options: Partial<ProviderOptions> = {}): void {
    const { url } = this.service
    const addresses = { callback: url + callbackPath, signedOut: `${url}/app` }
    this.idp.serve({ ...addresses, ...this.#options, ...options })
  }

  async stop(): Promise<void> {
    await this.service.stop()
    await this.idp.stop()
  }

  /** The address that the provider sends the browser back to, which is not asked yet. */
  async answer(client: WebClient, name: string, begin?: string): Promise<string> {
    const form = await client.follow(
      begin ?? this.service.url + openIdPath,
      this.service.url + callbackPath,
    )
    if (form.status === 0) return form.url
    const sent = await client.post(form.url, { name, act: name === '' ? 'cancel' : 'in' })
    const next = new URL(sent.headers.get('location') ?? '', form.url).href
    return (await client.follow(next, this.service.url + callbackPath)).url
  }

  /** What the service says to that, as a page. */
  async tried(name: string, client = new WebClient()): Promise<WebAnswer> {
    return client.get(await this.answer(client, name), { accept: 'text/html' })
  }

  /** Throws with the page where nobody is signed in. */
  async signIn(name: string, client = new WebClient()): Promise<SignedIn> {
    const { status, text } = await this.tried(name, client)
    if (status !== 303) throw new Error(text)
    return { client, session: await this.session(client) }
  }

  async session(client: WebClient): Promise<AnyJson> {
    return JSON.parse((await client.get(`${this.service.url}/session`)).text) as AnyJson
  }

  /** Names of the groups that a person is in. */
  async groups(email: string): Promise<string[]> {
    const { json: people } = await this.service.request(`/v1/user?email=${email}`)
    const [person] = people.objects as unknown as { id: string }[]
    const { json } = await this.service.request('/v1/group')
    const groups = json.objects as unknown as { name: string; member_users: string[] | null }[]
    return groups
      .filter(({ member_users }) => member_users?.includes(person?.id ?? ''))
      .map(({ name }) => name)
      .sort()
  }

  members(body: object) {
    return this.service.request('/v1/organization/members', { method: 'PATCH', body })
  }

  invite(email: string, ...group_names: string[]) {
    return this.members({ invite_users: { emails: [email], group_names } })
  }

  remove(email: string) {
    return this.members({ remove_users: { emails: [email] } })
  }
}
