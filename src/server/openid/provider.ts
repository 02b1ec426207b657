/** The provider of OpenID Connect: found when it is first needed, and asked again while it cannot be reached. */
import { setTimeout as wait } from 'node:timers/promises'
import * as client from 'openid-client'
import { isFetchable, type OpenIdSettings } from '../../access/sign-in-settings.ts'
import { AssayError } from '../../error.ts'
import { clockToleranceSeconds, providerFault } from './provider-fault.ts'
import { fetchFromProvider } from './provider-fetch.ts'

export interface ProviderTimes {
  /** For each request. People wait for it. */
  readonly timeoutSeconds: number
  /** How long the page waits to say whether it can be reached. */
  readonly patienceMs: number
  /** Nobody makes this service ask a provider that has failed more often. */
  readonly failedForMs: number
}

const usualTimes: ProviderTimes = { timeoutSeconds: 10, patienceMs: 2_000, failedForMs: 3_000 }

/** After this its document is read again. Until that succeeds, the one that is known goes on. */
const knownForMs = 3_600_000

/** So old may be what the page says of whether it can be reached. */
const reachedForMs = 15_000

/** Of a token in an address: with many groups in it, it would be longer than servers take. */
const longestHint = 6_000

/** Keys that were read so many seconds ago are read anew when a token names another. */
const keysAgeSeconds = 61

/** What comes back of a sign-in. */
export interface Redeemed {
  readonly claims: client.IDToken
  readonly idToken: string
  readonly accessToken: string
}

export interface RedemptionChecks {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

interface Known {
  readonly metadata: client.ServerMetadata
}

interface Keys {
  readonly jwks: client.JWKS
  readonly uat: number
}

export class OpenIdProvider {
  readonly settings: OpenIdSettings
  readonly #times: ProviderTimes
  #known: Known | undefined
  #finding: Promise<Known> | undefined
  /** Why it could not be asked the last time. */
  #failed: unknown
  #askedAt = Number.NEGATIVE_INFINITY
  #keys: Keys | undefined

  constructor(settings: OpenIdSettings, times = usualTimes) {
    this.settings = settings
    this.#times = times
  }

  /** Why nobody can sign in by it now. Undefined when it can be reached, or has not answered yet. */
  async fault(): Promise<AssayError | undefined> {
    if (this.#isOlder(reachedForMs)) {
      const looking = this.#look().catch(() => undefined)
      await Promise.race([looking, wait(this.#times.patienceMs, undefined, { ref: false })])
    }
    return this.#failed instanceof AssayError ? this.#failed : undefined
  }

  /** Where the browser is sent. */
  async authorizationUrl(
    redirectUri: string,
    { state, nonce, verifier, isAskedAnew }: RedemptionChecks & { readonly isAskedAnew: boolean },
  ): Promise<string> {
    const configuration = await this.#configuration()
    return client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.settings.scope,
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(isAskedAnew && { prompt: 'login' }),
    }).href
  }

  /** @param answer the address that the provider has sent the browser to, with what it has added */
  async redeem(answer: URL, { state, nonce, verifier }: RedemptionChecks): Promise<Redeemed> {
    const configuration = await this.#configuration()
    client.enableNonRepudiationChecks(configuration)
    if (this.#keys) {
      const oldest = Math.floor(Date.now() / 1000) - keysAgeSeconds
      client.setJwksCache(configuration, { ...this.#keys, uat: Math.min(this.#keys.uat, oldest) })
    }
    const tokens = await this.#asking(() =>
      client.authorizationCodeGrant(configuration, answer, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      }),
    )
    this.#keepKeys(client.getJwksCache(configuration))
    const claims = tokens.claims()
    const { id_token: idToken, access_token: accessToken } = tokens
    if (!claims || idToken === undefined) {
      throw new AssayError('ACCESS_PROVIDER_FAILED', 'The provider has sent no id_token', {
        hint: 'have the scope "openid" given to this service there',
      })
    }
    return { claims, idToken, accessToken }
  }

  /** Undefined where the provider has no such address. */
  async userInfo({ claims, accessToken }: Redeemed): Promise<client.UserInfoResponse | undefined> {
    const configuration = await this.#configuration()
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return undefined
    return this.#asking(() => client.fetchUserInfo(configuration, accessToken, claims.sub))
  }

  /** Where the browser goes to sign out there, too; undefined where the provider has no such address. */
  endSessionUrl(idToken: string, returnTo: string): string | undefined {
    const metadata = this.#known?.metadata
    if (metadata?.end_session_endpoint === undefined) return undefined
    const url = client.buildEndSessionUrl(this.#configured(metadata), {
      ...(idToken.length <= longestHint && { id_token_hint: idToken }),
      post_logout_redirect_uri: returnTo,
    })
    return isFetchable(url) ? url.href : undefined
  }

  async #configuration(): Promise<client.Configuration> {
    return this.#configured((await this.#find()).metadata)
  }

  /** One for each use: what it remembers of keys is set anew. */
  #configured(metadata: client.ServerMetadata): client.Configuration {
    const { clientId, clientSecret, issuer } = this.settings
    const known = { ...metadata }
    const options = { [client.clockTolerance]: clockToleranceSeconds }
    const configuration = new client.Configuration(
      known,
      clientId,
      options,
      authentication(clientSecret, metadata.token_endpoint_auth_methods_supported),
    )
    configuration.timeout = this.#times.timeoutSeconds
    configuration[client.customFetch] = fetchFromProvider
    // `fetchFromProvider` says which addresses may be asked so.
    if (issuer.startsWith('http:')) client.allowInsecureRequests(configuration)
    return configuration
  }

  /** What was known goes on while it is read again. */
  async #find(): Promise<Known> {
    if (this.#isOlder(knownForMs)) {
      const finding = this.#look()
      if (!this.#known) return finding
      finding.catch(() => undefined)
    }
    return this.#known ?? this.#look()
  }

  /** Whether it was last asked longer ago, or never. */
  #isOlder(ms: number): boolean {
    return Date.now() - this.#askedAt >= ms
  }

  #look(): Promise<Known> {
    if (this.#failed && !this.#finding && !this.#isOlder(this.#times.failedForMs))
      return Promise.reject(this.#failed)
    this.#finding ??= this.#discover().finally(() => {
      this.#finding = undefined
    })
    return this.#finding
  }

  async #discover(): Promise<Known> {
    const { issuer, clientId } = this.settings
    try {
      const found = await this.#asking(() =>
        client.discovery(new URL(issuer), clientId, undefined, undefined, {
          timeout: this.#times.timeoutSeconds,
          [client.customFetch]: fetchFromProvider,
          execute: issuer.startsWith('http:') ? [client.allowInsecureRequests] : [],
        }),
      )
      const metadata = found.serverMetadata()
      requireUsable(metadata)
      this.#known = { metadata }
      this.#failed = undefined
      return this.#known
    } catch (thrown) {
      this.#failed = thrown
      throw thrown
    } finally {
      this.#askedAt = Date.now()
    }
  }

  async #asking<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (thrown) {
      throw providerFault(thrown, this.settings.issuer)
    }
  }

  #keepKeys(keys: client.ExportedJWKSCache | undefined): void {
    if (keys) this.#keys = { jwks: keys.jwks, uat: keys.uat }
  }
}

/** Throws where the provider does not say where to go, or sends people to what is not encrypted. */
function requireUsable({ issuer, ...metadata }: client.ServerMetadata): void {
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    const address = metadata[name]
    if (address !== undefined && URL.canParse(address) && isFetchable(new URL(address))) continue
    throw new AssayError(
      'ACCESS_PROVIDER_FAILED',
      `The discovery document of ${issuer} has ${address === undefined ? 'no' : 'an address without https:// as'} ${name}`,
      { hint: 'see whether --oidc-issuer is a provider of OpenID Connect' },
    )
  }
}

/** As the provider takes it. Where it does not say, in the header. */
function authentication(
  secret: string | undefined,
  methods: readonly string[] = ['client_secret_basic'],
): client.ClientAuth {
  if (secret === undefined) return client.None()
  const isInBody =
    !methods.includes('client_secret_basic') && methods.includes('client_secret_post')
  return isInBody ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret)
}
