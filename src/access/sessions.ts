/** Sessions of people at the web page: a random text in a cookie, which stands for a member. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Catalog } from '../catalog/catalog.ts'
import type { Change } from '../catalog/change.ts'
import type { Entries, Session } from '../catalog/entry.ts'
import { AssayError } from '../error.ts'
import type { AccessIndex } from './access-index.ts'
import { nowhere } from './decide.ts'
import { type Guess, PasswordGuesses } from './guess-limits.ts'
import { keyExpiryMs } from './key-expiry.ts'
import { hashKey, newKeyText } from './key-ring.ts'
import { findPassword, hashPassword } from './password.ts'
import { actorOf, type Principal } from './principal.ts'

export interface StartedSession {
  readonly principal: Principal
  /** For the cookie; never shown again. */
  readonly text: string
  /** How long it lasts. */
  readonly seconds: number
}

export interface PasswordCredentials {
  readonly email: string
  readonly password: string
  /** Which organization, for who has the password in several. */
  readonly organization?: string
  /** Where it is tried from. */
  readonly address: string
  /** Of the cookie that came with it. */
  readonly session?: string | undefined
}

/** A session that is to begin. */
export interface NewSession extends Pick<Session, 'org_id' | 'user_id' | 'key_id'> {
  readonly id_token?: string
  readonly seconds?: number
}

/** After this, one signs in again. */
export const sessionSeconds = 14 * 24 * 60 * 60

export class Sessions {
  readonly #catalog: Catalog
  readonly #index: AccessIndex
  /** By hash of the text. */
  readonly #byHash = new Map<string, Session>()
  readonly #guesses = new PasswordGuesses()

  constructor(catalog: Catalog, index: AccessIndex) {
    this.#catalog = catalog
    this.#index = index
    for (const session of catalog.list('session')) this.#byHash.set(session.hash, session)
    catalog.onChange((changes) => {
      for (const { kind, before, after } of changes) {
        if (kind !== 'session') continue
        if (before) this.#byHash.delete((before as Session).hash)
        if (after) this.#byHash.set((after as Session).hash, after as Session)
      }
    })
  }

  /** Undefined for an unknown, expired or foreign text, and for who is no member any more. */
  find(text: string): (Principal & { readonly userId: string }) | undefined {
    const session = this.#byHash.get(hashKey(text).toString('hex'))
    if (!session || Date.parse(session.expires) <= Date.now()) return undefined
    const { org_id: organizationId, user_id: userId, key_id: keyId } = session
    if (keyExpiryMs(this.#catalog, keyId) <= Date.now()) return undefined
    if (!this.#index.graph(organizationId).isMember(userId)) return undefined
    return { userId, organizationId, keyId, sessionId: session.id }
  }

  /** What the provider that began the session said of the person, sealed; undefined for other sessions. */
  idTokenOf(text: string): string | undefined {
    return this.#byHash.get(hashKey(text).toString('hex'))?.id_token ?? undefined
  }

  /** Whether the session is there and has not expired. */
  isOpen(id: string): boolean {
    const session = this.#catalog.get('session', id)
    return session !== undefined && Date.parse(session.expires) > Date.now()
  }

  /** A session with the rights of a key; it ends when the key is revoked or expires. */
  start({ organizationId, userId, keyId }: Principal): Promise<StartedSession> {
    if (userId === null) throw refused()
    return this.#create(organizationId, userId, keyId)
  }

  /** The same error, after the same work, for a wrong password and for somebody who is not there. */
  async signIn(credentials: PasswordCredentials): Promise<StartedSession> {
    const { email, password, organization, address, session } = credentials
    const account = email.trim().toLowerCase()
    const user = this.#catalog.named('user', '', account)
    const known = session === undefined ? undefined : this.find(session)
    const isSignedIn = known !== undefined && known.userId === user?.id
    const guess = this.#guesses.begin(account, { address, isSignedIn })
    const kept = this.#passwordsOf(user?.id).filter(({ user_id, org_id }) => {
      const name = this.#catalog.get('organization', org_id)?.name
      const isAsked = organization === undefined || organization === name
      return isAsked && this.#index.isMember(org_id, user_id)
    })
    const found = await checked(guess, findPassword(password, kept))
    if (!found) throw refused()
    return this.#create(found.org_id, found.user_id, null)
  }

  /**
   * The current one is asked for where there is one. Ends the member's other sessions. Whoever acts for
   * another sets none: who signs in with it would be taken for the other.
   */
  async setPassword(principal: Principal, password: string, current: string): Promise<void> {
    const { organizationId: org_id, userId: user_id, realUserId } = principal
    if (realUserId !== undefined) {
      throw new AssayError('ACCESS_DENIED', 'A password is set by nobody but whose it is', {
        hint: 'make an API key for a new member, who signs in with it and then sets a password',
      })
    }
    const user = user_id === null ? undefined : this.#catalog.get('user', user_id)
    if (user_id === null || !user?.email || user.is_service_account) {
      throw new AssayError(
        'REQUEST_INVALID',
        'only members with an e-mail address have passwords',
        {
          hint: 'sign in with an API key',
        },
      )
    }
    const existing = this.#catalog.named('password', org_id, user_id)
    if (existing) {
      // Who has taken over a session guesses here, which must not keep the user from signing in.
      const guess = this.#guesses.begin(`current ${user_id}`, { address: '', isSignedIn: true })
      if (!(await checked(guess, findPassword(current, [existing])))) {
        throw new AssayError('REQUEST_INVALID', 'the current password is another', {
          path: 'current_password',
        })
      }
    }
    const kept = await hashPassword(password, this.#passwordsOf(user_id)[0]?.salt)
    await this.#catalog.change(actorOf(principal), (change) => {
      const before = change.named('password', org_id, user_id)
      if (before) change.update('password', before.id, kept)
      else change.create('password', { org_id, user_id, ...kept })
      change.removeNaming('session', user_id, isIn(org_id))
    })
  }

  async end(text: string): Promise<void> {
    const session = this.#byHash.get(hashKey(text).toString('hex'))
    if (!session) return
    const { org_id: organizationId, user_id: userId, key_id: keyId } = session
    await this.#catalog.change(actorOf({ organizationId, userId, keyId }), (change) => {
      change.discard('session', session.id)
    })
  }

  /** Ends all sessions of the principal in its organization. */
  async endAll(principal: Principal): Promise<void> {
    const { organizationId, userId } = principal
    if (userId === null) return
    await this.#catalog.change(actorOf(principal), (change) => {
      change.removeNaming('session', userId, isIn(organizationId))
    })
  }

  async #create(org_id: string, user_id: string, key_id: string | null): Promise<StartedSession> {
    const actor = actorOf({ organizationId: org_id, userId: user_id, keyId: key_id })
    return this.#catalog.change(actor, (change) => this.begin(change, { org_id, user_id, key_id }))
  }

  /** Begins a session within a change that may do more. */
  begin(change: Change, { seconds = sessionSeconds, ...given }: NewSession): StartedSession {
    const { org_id, user_id, key_id } = given
    const text = newKeyText()
    const expires = new Date(Date.now() + seconds * 1000).toISOString()
    change.removeNaming('session', user_id, (old) => {
      return isIn(org_id)(old) && Date.parse(old.expires) <= Date.now()
    })
    const hash = hashKey(text).toString('hex')
    change.create('session', { ...given, hash, expires })
    return { principal: { organizationId: org_id, userId: user_id, keyId: key_id }, text, seconds }
  }

  /** In any of the organizations. */
  #passwordsOf(userId = nowhere): Entries['password'][] {
    const ids = this.#catalog.referrers('password', userId)
    return ids.flatMap((id) => this.#catalog.get('password', id) ?? [])
  }
}

/** Waits for what a guess has found, if that can be found out. */
async function checked<Found>(
  guess: Guess,
  finding: Promise<Found | undefined>,
): Promise<Found | undefined> {
  let found: Found | undefined
  try {
    found = await finding
  } catch (thrown) {
    guess.giveBack()
    throw thrown
  }
  if (found) guess.succeed()
  return found
}

/**
 * What the page sends with each change, to prove that it is the page that sends it: other sites can
 * have the browser send the cookie, but cannot read what is made of it.
 */
export function changeTokenOf(text: string): string {
  return createHash('sha256').update(`change ${text}`).digest('base64url')
}

export function isChangeToken(text: string, given: string): boolean {
  const expected = Buffer.from(changeTokenOf(text))
  const actual = Buffer.from(given)
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}

function isIn(organizationId: string) {
  return ({ org_id }: Session) => org_id === organizationId
}

function refused(): AssayError {
  return new AssayError('ACCESS_UNAUTHENTICATED', 'The credentials are not right', {
    hint: 'check the address and the password, or sign in with an API key',
  })
}
