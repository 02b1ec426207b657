import { system } from '../catalog/audit-trail.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { AssayError } from '../error.ts'
import { AccessIndex } from './access-index.ts'
import { nowhere, ownsOrganization } from './decide.ts'
import { Gate } from './gate.ts'
import { KeyGuesses } from './guess-limits.ts'
import { KeyExpiry, keyExpiryMs } from './key-expiry.ts'
import { hashKey, KeyRing, newKeyText, previewKey } from './key-ring.ts'
import { KeyUse } from './key-use.ts'
import type { IssuedKey } from './keys.ts'
import type { Principal } from './principal.ts'
import type { Prompts } from './rights.ts'
import { isChangeToken, Sessions } from './sessions.ts'

export interface Credentials {
  readonly authorization?: string | undefined
  /** `x-bt-auth-token`: the key alone. Wins over the other header. */
  readonly token?: string | undefined
  /** The text of a session's cookie, which counts where there is no key. */
  readonly session?: string | undefined
  /** What the page sends with a change; undefined for what changes nothing. */
  readonly changeToken?: string | undefined
  /** `x-bt-impersonate-user`: id or e-mail address of the user to act for; empty for nobody. */
  readonly impersonate?: string | undefined
  /** Where it comes from; undefined where nobody counts wrong keys. */
  address?: (() => string) | undefined
}

export interface KeyOwner {
  readonly user_id: string
  readonly org_id: string
}

/** Tells from a request's headers who asks, and makes the gate that this one may pass. */
export class Access {
  readonly catalog: Catalog
  readonly index: AccessIndex
  readonly sessions: Sessions
  readonly #keys: KeyRing
  readonly #prompts: Prompts | undefined
  readonly #guesses = new KeyGuesses()
  readonly #use: KeyUse
  readonly #expiry: KeyExpiry

  constructor(catalog: Catalog, prompts?: Prompts) {
    this.catalog = catalog
    this.#prompts = prompts
    this.index = new AccessIndex(catalog)
    this.sessions = new Sessions(catalog, this.index)
    this.#keys = new KeyRing(catalog)
    this.#use = new KeyUse(catalog)
    this.#expiry = new KeyExpiry(catalog)
  }

  gate(principal: Principal, requestId = ''): Gate {
    const options = { prompts: this.#prompts, requestId }
    return new Gate(this.catalog, this.index, principal, options)
  }

  /**
   * Throws the same error whether the key is missing, malformed, unknown, or of somebody who is not
   * in its organization any more.
   */
  authenticate(credentials: Credentials): Principal {
    const principal = this.#signedIn(credentials) ?? this.#keyOwner(credentials)
    const { impersonate } = credentials
    return impersonate ? this.#impersonated(principal, impersonate.trim()) : principal
  }

  /** Whose session it is. A change has to come from the page itself. */
  #signedIn(credentials: Credentials): (Principal & { readonly userId: string }) | undefined {
    const { session, changeToken } = credentials
    if (session === undefined || keyText(credentials) !== undefined) return undefined
    const principal = this.sessions.find(session)
    if (!principal) return undefined
    if (changeToken !== undefined && !isChangeToken(session, changeToken)) {
      throw new AssayError(
        'ACCESS_DENIED',
        'The change does not come from a page of this service',
        {
          hint: 'send the session’s change_token as x-assay-change-token, or use an API key',
        },
      )
    }
    return principal
  }

  #keyOwner(credentials: Credentials) {
    const text = keyText(credentials)
    const { address } = credentials
    // A key that was right lately goes on being served, whoever guesses from where it is used.
    if (text !== undefined && address && !this.#keys.isRecent(text)) {
      this.#guesses.require(address)
    }
    const key = this.#keys.find(text)
    if (!key && text !== undefined && address) this.#guesses.noteWrong(address())
    const isMember = this.index.isMember(key?.organizationId ?? nowhere, key?.userId ?? nowhere)
    if (!key || !isMember) {
      throw new AssayError('ACCESS_UNAUTHENTICATED', 'The request carries no valid API key', {
        hint: 'send the header "Authorization: Bearer <key>"',
      })
    }
    this.#use.note(key)
    return { userId: key.userId, organizationId: key.organizationId, keyId: key.id }
  }

  /**
   * Throws when what the principal has come in with has ended since, or it may not act in the name that it
   * does: what was begun then, or left to be fetched, is of nobody any more.
   */
  requireValid({ userId, realUserId, organizationId, keyId, sessionId }: Principal): void {
    if (userId === null) return
    const isLetIn =
      [userId, realUserId ?? userId].every((id) => this.index.isMember(organizationId, id)) &&
      (keyId === null || this.#isKeyValid(keyId)) &&
      (sessionId === undefined || this.sessions.isOpen(sessionId))
    const mayAct =
      realUserId === undefined ||
      ownsOrganization(this.index.grants(organizationId, realUserId), organizationId)
    if (isLetIn && mayAct) return
    throw new AssayError('ACCESS_UNAUTHENTICATED', 'The key or the session is not valid any more', {
      hint: 'ask again with another key',
    })
  }

  #isKeyValid(id: string): boolean {
    const key = this.catalog.get('api_key', id) ?? this.catalog.get('service_token', id)
    return key !== undefined && keyExpiryMs(this.catalog, id) > Date.now()
  }

  /** Issues a key to a user. A text that is already a key of that user is not issued again. */
  async issueKey(
    owner: KeyOwner,
    name: string,
    text = newKeyText(),
    expires_at: string | null = null,
  ): Promise<IssuedKey> {
    const existing = this.#keys.find(text)
    const known = existing?.kind === 'api_key' && this.catalog.get('api_key', existing.id)
    if (known) return { key: known, text }
    const key = await this.catalog.create(
      'api_key',
      {
        ...owner,
        name,
        preview_name: previewKey(text),
        hash: hashKey(text).toString('hex'),
        expires_at,
      },
      system,
    )
    return { key, text }
  }

  /** The listener is called at the moment at which a key expires. Returns what ends that. */
  onExpiry(listener: () => void): () => void {
    return this.#expiry.onExpiry(listener)
  }

  /** Writes what is kept in memory for a while: when keys were used. */
  close(): Promise<void> {
    this.#expiry.close()
    return this.#use.write()
  }

  /** One error, whether the user is not there or the caller may not act for others. */
  #impersonated(principal: Principal & { readonly userId: string }, who: string): Principal {
    const { userId, organizationId } = principal
    const named = this.catalog.named('user', '', who.toLowerCase())
    const user = this.catalog.get('user', who.toLowerCase()) ?? named
    const mayActForOthers = ownsOrganization(
      this.index.grants(organizationId, userId),
      organizationId,
    )
    const isMember = this.index.isMember(organizationId, user?.id ?? nowhere)
    if (!mayActForOthers || !user || !isMember) {
      throw new AssayError(
        'ACCESS_DENIED',
        'Missing access to act for that user, or the user does not exist',
        { hint: 'owners of an organization may act for its members' },
      )
    }
    return { ...principal, userId: user.id, realUserId: userId }
  }
}

function keyText({ authorization, token }: Credentials): string | undefined {
  if (token) return token.trim()
  return authorization?.match(/^Bearer +(\S+) *$/i)?.[1]
}
