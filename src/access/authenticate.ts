import { timingSafeEqual } from 'node:crypto'
import { system } from '../catalog/audit-trail.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ApiKey } from '../catalog/entry.ts'
import { AssayError } from '../error.ts'
import { hashKey, newKeyText, previewKey } from './api-key.ts'

/** Who asks, on behalf of which organization. */
export interface Principal {
  readonly userId: string
  readonly organizationId: string
  readonly keyId: string
}

export interface Credentials {
  readonly authorization?: string | undefined
  /** `x-bt-auth-token`: the key alone. Wins over the other header. */
  readonly token?: string | undefined
}

export interface IssuedKey {
  readonly key: ApiKey
  /** Shown to the owner now and never again. */
  readonly text: string
}

/** Longer texts are no keys of ours, and not worth hashing. */
const longestKey = 1024

/** Issues API keys and tells from a request's headers whose key it carries. */
export class Authenticator {
  readonly #catalog: Catalog
  /** By the first half of the hash, so that finding a key compares no secret byte by byte. */
  readonly #keys = new Map<string, ApiKey>()

  constructor(catalog: Catalog) {
    this.#catalog = catalog
    for (const key of catalog.list('api_key')) this.#keys.set(lookupOf(key.hash), key)
  }

  /** Throws the same error whether the key is missing, malformed or unknown. */
  authenticate(credentials: Credentials): Principal {
    const text = keyText(credentials)
    if (text !== undefined && text.length <= longestKey) {
      const hash = hashKey(text)
      const key = this.#keys.get(lookupOf(hash.toString('hex')))
      if (key && timingSafeEqual(Buffer.from(key.hash, 'hex'), hash)) {
        return { userId: key.user_id, organizationId: key.org_id, keyId: key.id }
      }
    }
    throw new AssayError('ACCESS_UNAUTHENTICATED', 'The request carries no valid API key', {
      hint: 'send the header "Authorization: Bearer <key>"',
    })
  }

  /** Issues a key to a user. A text that is already a key of that user is not issued again. */
  async issueKey(owner: KeyOwner, name: string, text = newKeyText()): Promise<IssuedKey> {
    const hash = hashKey(text).toString('hex')
    const existing = this.#keys.get(lookupOf(hash))
    if (existing) return { key: existing, text }
    const preview_name = previewKey(text)
    const given = { ...owner, name, preview_name, hash }
    const key = await this.#catalog.create('api_key', given, system)
    this.#keys.set(lookupOf(hash), key)
    return { key, text }
  }
}

export interface KeyOwner {
  readonly user_id: string
  readonly org_id: string
}

function keyText({ authorization, token }: Credentials): string | undefined {
  if (token) return token.trim()
  return authorization?.match(/^Bearer +(\S+) *$/i)?.[1]
}

function lookupOf(hash: string): string {
  return hash.slice(0, 32)
}
