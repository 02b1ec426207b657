/**
 * A real provider of OpenID Connect on a port of its own. People sign in to it by a form that asks for a name alone;
 * what it says of them is what the test has said.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { generateKeyPairSync, type JsonWebKey, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Configuration, Provider } from 'oidc-provider'

/** What is done within it has a clock of its own; all else in this process has that of the machine. */
const ownClock = new AsyncLocalStorage<number>()
const machineNow = Date.now
Date.now = () => machineNow() + (ownClock.getStore() ?? 0)

type Claims = Readonly<Record<string, unknown>>

export interface ProviderOptions {
  /** Where people may be sent back to. */
  readonly callback: string
  readonly signedOut: string
  /** Whether all claims are in the id_token, not only where they are asked for. */
  readonly isTokenWhole?: boolean
  /** How long an id_token is valid. */
  readonly tokenSeconds?: number
  /** In place of those that discovery tells. */
  readonly clientAuthentication?: 'client_secret_basic' | 'client_secret_post' | 'none'
}

const daySeconds = 86_400

export const clientId = 'assay'
/** As some have it: with characters that have to be escaped in a header. */
export const clientSecret = 'a secret/with:+%signs'

export class IdentityProvider {
  readonly issuer: string
  /** By the name that is written into the form. */
  readonly people = new Map<string, Claims>()
  /** Paths that were asked, in order. */
  readonly asked: string[] = []
  /** How far the provider's clock is ahead of everybody else's, or behind. */
  clockMs = 0
  /** Called before each request; one that answers takes it over. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  readonly #port: number
  #server: Server
  #provider: Provider | undefined
  #options: ProviderOptions | undefined
  #key: JsonWebKey = newKey()

  private constructor(server: Server) {
    this.#server = server
    this.#port = (server.address() as AddressInfo).port
    this.issuer = `http://127.0.0.1:${this.#port}/tenant`
    this.#answer()
  }

  static async start(): Promise<IdentityProvider> {
    return new IdentityProvider(await listening(0))
  }

  /** Nobody is known to it before. Sessions that people have there end. */
  serve(options: ProviderOptions): void {
    this.#options = options
    this.#provider = this.#made(options)
  }

  /** All keys are new ones, and the old ones are gone. */
  rotateKeys(): void {
    this.#key = newKey()
    this.serve(this.#options!)
  }

  /** The variables of a service that has it for its provider. */
  environment(more: Record<string, string> = {}): Record<string, string> {
    return {
      ASSAY_OIDC_ISSUER: this.issuer,
      ASSAY_OIDC_CLIENT_ID: clientId,
      ASSAY_OIDC_CLIENT_SECRET: clientSecret,
      ...more,
    }
  }

  /** Until it is resumed, nobody listens there. */
  async interrupt(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async resume(): Promise<void> {
    this.#server = await listening(this.#port)
    this.#answer()
  }

  async stop(): Promise<void> {
    if (this.#server.listening) await this.interrupt()
  }

  #answer(): void {
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { url = '' } = request
      const path = url.replace(/[?#].*/, '').replace(/^\/tenant/, '')
      this.asked.push(path)
      if (this.intercept?.(request, response)) return
      if (!url.startsWith('/tenant') || !this.#provider) {
        response.writeHead(404).end()
        return
      }
      // It makes its own addresses of what was asked for at first.
      Object.assign(request, { originalUrl: url })
      request.url = url.slice('/tenant'.length) || '/'
      const isForm = path.startsWith('/interaction/')
      const provider = this.#provider
      void ownClock.run(this.clockMs, () =>
        isForm
          ? this.#interact(request, response).catch((error: unknown) => {
              response.writeHead(400).end(String(error))
            })
          : provider.callback()(request, response),
      )
    })
  }

  /** The form where people write who they are; what the service asks for is given to it without a question. */
  async #interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const provider = this.#provider!
    const { prompt, params, session } = await provider.interactionDetails(request, response)
    if (prompt.name === 'consent') {
      const grant = new provider.Grant({
        accountId: session!.accountId,
        clientId: String(params.client_id),
      })
      grant.addOIDCScope(String(params.scope))
      await provider.interactionFinished(request, response, {
        consent: { grantId: await grant.save() },
      })
      return
    }
    if (request.method !== 'POST') {
      const form =
        '<!doctype html><html lang="en"><title>Provider</title><form method="post">' +
        '<label>Who are you? <input name="name"></label>' +
        '<button name="act" value="in">Continue</button>' +
        '<button name="act" value="cancel">Cancel</button></form></html>'
      response.setHeader('content-type', 'text/html').end(form)
      return
    }
    let body = ''
    for await (const part of request) body += String(part)
    const given = new URLSearchParams(body)
    const result =
      given.get('act') === 'cancel'
        ? { error: 'access_denied', error_description: 'The person has cancelled' }
        : { login: { accountId: given.get('name')! } }
    await provider.interactionFinished(request, response, result)
  }

  #made(options: ProviderOptions): Provider {
    const { isTokenWhole = false, tokenSeconds = 3600, callback, signedOut } = options
    const method = options.clientAuthentication ?? 'client_secret_basic'
    const names = [...this.people.values()].flatMap((claims) => Object.keys(claims))
    const profile = new Set([...names, 'given_name', 'family_name'])
    for (const name of ['email', 'email_verified']) profile.delete(name)
    const configuration: Configuration = {
      clients: [
        {
          client_id: clientId,
          ...(method !== 'none' && { client_secret: clientSecret }),
          token_endpoint_auth_method: method,
          redirect_uris: [callback],
          post_logout_redirect_uris: [signedOut],
        },
      ],
      clientAuthMethods: [method],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: [...profile] },
      conformIdTokenClaims: !isTokenWhole,
      cookies: { keys: [randomUUID()] },
      features: {
        devInteractions: { enabled: false },
        rpInitiatedLogout: {
          enabled: true,
          logoutSource: (ctx, form) => {
            ctx.body = `<!doctype html><title>Provider</title>${form}<button name="logout" value="yes" form="op.logoutForm">Sign out there</button>`
          },
        },
      },
      findAccount: (_, id) => {
        const person = this.people.get(id)
        return person && { accountId: id, claims: () => ({ sub: id, ...person }) }
      },
      interactions: { url: (_, { uid }) => `/tenant/interaction/${uid}` },
      jwks: { keys: [this.#key as never] },
      pkce: { required: () => true },
      ttl: {
        IdToken: () => tokenSeconds,
        AccessToken: 600,
        AuthorizationCode: 60,
        // As long as clocks of tests may be behind, browsers are to keep its cookies.
        Grant: daySeconds,
        Interaction: daySeconds,
        Session: daySeconds,
      },
    }
    return new Provider(this.issuer, configuration)
  }
}

function newKey(): JsonWebKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig' }
}

function listening(port: number): Promise<Server> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
