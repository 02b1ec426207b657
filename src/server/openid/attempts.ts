/**
 * Sign-ins that have begun. Each is bound to its browser by a cookie of its own, so that several tabs do not
 * get into each other's way. Nothing of it is kept here, but which have ended.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { SecretBox } from '../../access/secret-box.ts'
import { AssayError } from '../../error.ts'
import { cookieValues, pathCookie } from '../session-cookie.ts'
import type { RedemptionChecks } from './provider.ts'

/** How long somebody may be at the provider. */
const attemptSeconds = 600

/** Further ones take the place of the oldest: browsers send all of them, and headers have to stay small. */
const mostInBrowser = 5

const mostEnded = 20_000
const prefix = 'assay_sign_in_'
const owner = 'sign-in'

export interface BegunAttempt extends RedemptionChecks {
  readonly cookies: readonly string[]
}

export class Attempts {
  readonly #secrets: SecretBox
  /** By state. Those that are forgotten have expired, or the provider refuses their codes. */
  readonly #ended = new LRUCache<string, true>({ max: mostEnded, ttl: attemptSeconds * 1000 })

  constructor(secrets: SecretBox) {
    this.#secrets = secrets
  }

  /** @param path of the routes that the cookie is for, within the public URL */
  begin(publicUrl: string, path: string, cookies: string | undefined): BegunAttempt {
    const secret = randomBytes(24).toString('base64url')
    const checks = checksOf(secret)
    const sealed = this.#secrets.seal(JSON.stringify([secret, nowSeconds()]), owner)
    const value = Buffer.from(sealed, 'base64').toString('base64url')
    const cookie = (name: string, value: string, seconds: number) =>
      pathCookie(name, value, { publicUrl, path, seconds, sameSite: 'Lax' })
    const others = cookieValues(cookies)
      .map(([name]) => name)
      .filter((name) => name.startsWith(prefix))
    const tooMany = others.slice(0, Math.max(0, others.length - mostInBrowser + 1))
    return {
      ...checks,
      cookies: [
        cookie(nameOf(checks.state), value, attemptSeconds),
        ...tooMany.map((name) => cookie(name, '', 0)),
      ],
    }
  }

  /** What the answer to an attempt has to fit; each is given once. Throws where it is not this browser's. */
  end(state: string | undefined, cookies: string | undefined): RedemptionChecks {
    if (state === undefined || !/^[\w-]{43}$/.test(state)) {
      throw refused('The answer of the provider has no state of this service')
    }
    const name = nameOf(state)
    const value = cookieValues(cookies).find(([key]) => key === name)?.[1]
    if (value === undefined) {
      throw refused(
        'This browser has not begun this sign-in, or it began more than 10 minutes ago',
        'sign in again in one browser, in which cookies are allowed, and at the address at which this service is configured',
      )
    }
    const [secret, begun] = this.#open(value)
    const checks = checksOf(secret)
    if (!timingSafeEqual(Buffer.from(checks.state), Buffer.from(state))) {
      throw refused('The state in the answer of the provider was not made for this browser')
    }
    if (nowSeconds() - begun > attemptSeconds) {
      throw refused('This sign-in began more than 10 minutes ago')
    }
    if (this.#ended.has(state))
      throw refused('This sign-in has ended already, and cannot be repeated')
    this.#ended.set(state, true)
    return checks
  }

  /** The cookie that takes away that of the attempt. */
  forget(publicUrl: string, path: string, state: string): string {
    return pathCookie(nameOf(state), '', { publicUrl, path, seconds: 0, sameSite: 'Lax' })
  }

  #open(value: string): [secret: string, begun: number] {
    const sealed = Buffer.from(value, 'base64url').toString('base64')
    try {
      return JSON.parse(this.#secrets.unseal(sealed, owner)) as [string, number]
    } catch {
      throw refused('The cookie of this sign-in was changed, or sealed with another key')
    }
  }
}

/** All of it follows from the secret in the cookie, which therefore stays small. */
function checksOf(secret: string): RedemptionChecks {
  const derived = (use: string) => createHmac('sha256', secret).update(use).digest('base64url')
  return { state: derived('state'), nonce: derived('nonce'), verifier: derived('verifier') }
}

function nameOf(state: string): string {
  return prefix + state.slice(0, 10)
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

function refused(message: string, hint = 'begin to sign in again'): AssayError {
  return new AssayError('ACCESS_UNAUTHENTICATED', message, { hint })
}
