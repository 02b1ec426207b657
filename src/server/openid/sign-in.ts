/** A sign-in by the provider, from the page to it and back. */
import type { Access } from '../../access/access.ts'
import { type Guess, SignInTries } from '../../access/guess-limits.ts'
import { type AdmittedSession, OpenIdMembers } from '../../access/openid-members.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import type { OpenIdSettings } from '../../access/sign-in-settings.ts'
import { AssayError } from '../../error.ts'
import type { Logger } from '../logger.ts'
import { Attempts } from './attempts.ts'
import { accountOf, hasAll, merged } from './claims.ts'
import { OpenIdProvider, type Redeemed } from './provider.ts'

/** Below the public URL: what begins a sign-in, and the cookies of those that have begun. */
export const openIdPath = '/session/openid'

/** Below the public URL: where the provider sends people back to. It is registered there. */
export const callbackPath = `${openIdPath}/callback`

/** Whose an id_token is sealed for. */
const tokenOwner = 'id_token'

/** Requests to the provider that people wait for. */
const mostAtOnce = 50

export interface AnsweredSignIn {
  readonly publicUrl: string
  readonly query: URLSearchParams
  readonly cookies: string | undefined
  readonly address: string
}

interface Parts {
  readonly access: Access
  readonly secrets: SecretBox
  readonly logger: Logger
}

export class OpenIdSignIn {
  readonly provider: OpenIdProvider
  readonly #attempts: Attempts
  readonly #members: OpenIdMembers
  readonly #tries = new SignInTries()
  readonly #secrets: SecretBox
  readonly #logger: Logger
  #running = 0

  constructor({ access, secrets, logger }: Parts, settings: OpenIdSettings) {
    this.provider = new OpenIdProvider(settings)
    this.#attempts = new Attempts(secrets)
    this.#members = new OpenIdMembers(access, settings)
    this.#secrets = secrets
    this.#logger = logger
    void this.#tellFault()
  }

  /** The service starts without the provider; whoever starts it is to know. */
  async #tellFault(): Promise<void> {
    const fault = await this.provider.fault()
    if (!fault) return
    const { message: reason, hint } = fault
    this.#logger.warn({ reason, hint }, 'nobody can sign in by the provider now')
  }

  /**
   * Where the browser goes, and the cookies that it takes along.
   *
   * @param isAskedAnew whether the provider asks who it is, also of somebody whom it knows
   */
  async begin(publicUrl: string, cookies: string | undefined, isAskedAnew: boolean) {
    const attempt = this.#attempts.begin(publicUrl, openIdPath, cookies)
    const location = await this.provider.authorizationUrl(publicUrl + callbackPath, {
      ...attempt,
      isAskedAnew,
    })
    return { location, cookies: attempt.cookies }
  }

  /** Takes what the provider has sent the browser back with. Throws why nobody is signed in. */
  async finish({ publicUrl, query, cookies, address }: AnsweredSignIn): Promise<AdmittedSession> {
    const checks = this.#attempts.end(query.get('state') ?? undefined, cookies)
    const answer = new URL(`${publicUrl}${callbackPath}?${query}`)
    const guess = this.#tries.begin(address)
    const redeemed = await this.#limited(guess, async () => {
      const tokens = await this.provider.redeem(answer, checks)
      const { groupsClaim } = this.provider.settings
      const more = hasAll(tokens.claims, groupsClaim)
        ? undefined
        : await this.provider.userInfo(tokens)
      return { tokens, more }
    })
    guess.succeed()
    return await this.#admit(redeemed.tokens, redeemed.more)
  }

  /** The cookie that takes that of the attempt away. */
  forget(publicUrl: string, state: string | null): string[] {
    if (state === null || !/^[\w-]{43}$/.test(state)) return []
    return [this.#attempts.forget(publicUrl, openIdPath, state)]
  }

  /** Where the browser goes to sign out at the provider; undefined where it is not asked to. */
  signOutUrl(sealedToken: string | undefined, publicUrl: string): string | undefined {
    if (sealedToken === undefined) return undefined
    let idToken: string
    try {
      idToken = this.#secrets.unseal(sealedToken, tokenOwner)
    } catch {
      // Sealed with another key: the person is asked at the provider whom to sign out.
      return undefined
    }
    return this.provider.endSessionUrl(idToken, `${publicUrl}/app`)
  }

  async #admit(
    { claims, idToken }: Redeemed,
    more: Readonly<Record<string, unknown>> | undefined,
  ): Promise<AdmittedSession> {
    const { groupsClaim } = this.provider.settings
    const account = accountOf(merged(claims, more), { groupsClaim, issuer: claims.iss })
    const sealed = this.#secrets.seal(idToken, tokenOwner)
    const admitted = await this.#members.signIn({ ...account, idToken: sealed })
    if (admitted.isKeptInGroups) {
      this.#logger.warn(
        { userId: admitted.principal.userId },
        'the provider takes the last owner out of a group: all groups stay as they are',
      )
    }
    if (admitted.missingGroups.length > 0) {
      this.#logger.warn(
        { groups: admitted.missingGroups },
        'the settings of the provider name groups that are not there',
      )
    }
    return admitted
  }

  async #limited<T>(guess: Guess, run: () => Promise<T>): Promise<T> {
    if (this.#running >= mostAtOnce) {
      guess.giveBack()
      throw new AssayError('LIMIT_RATE', 'too many people are being signed in', {
        retryAfterSeconds: 5,
      })
    }
    this.#running++
    try {
      return await run()
    } finally {
      this.#running--
    }
  }
}
