import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Catalog, CatalogChange } from '../catalog/catalog.ts'
import type { ApiKey, ServiceToken } from '../catalog/entry.ts'
import { expiryMs } from './key-expiry.ts'

/** A key or token as far as it lets somebody in. */
export interface Key {
  readonly kind: 'api_key' | 'service_token'
  readonly id: string
  readonly organizationId: string
  readonly userId: string
  readonly hash: Buffer
  readonly expiresMs: number
}

/** Longer texts are no keys of ours, and not worth hashing. */
const longestKey = 1024

/** A new key's text: 256 random bits. Nobody can read it again once it has been shown. */
export function newKeyText(): string {
  return `sk-${randomBytes(32).toString('base64url')}`
}

/** What is kept of a key. No salt: the text is random, so there is nothing to guess. */
export function hashKey(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Enough of a key for its owner to know it again. */
export function previewKey(text: string): string {
  return text.length < 16 ? '***' : `${text.slice(0, 5)}***${text.slice(-3)}`
}

/** Texts of keys that were found lately, so that requests of one client need no hash. */
const recentTexts = 1000

/** Equals the hash of no text that anybody could find. */
const noHash = Buffer.alloc(32)

/** The keys that are valid now: those of the catalog, which tells of each that comes or goes. */
export class KeyRing {
  /** By the first half of the hash, so that finding a key compares no secret byte by byte. */
  readonly #keys = new Map<string, Key>()
  readonly #recent = new LRUCache<string, Key>({ max: recentTexts })

  constructor(catalog: Catalog) {
    for (const key of catalog.list('api_key')) this.#add(ofApiKey(key))
    for (const token of catalog.list('service_token')) this.#add(ofServiceToken(token))
    catalog.onChange((changes) => {
      for (const change of changes) this.#follow(change)
    })
  }

  /** Undefined for an unknown text or an expired key, after the same work; no text is an unknown one. */
  find(text: string | undefined): Key | undefined {
    const key = this.#find(text)
    return key && key.expiresMs > Date.now() ? key : undefined
  }

  /** Whether it was found lately. */
  isRecent(text: string): boolean {
    return this.#recent.has(text)
  }

  #find(text: string | undefined): Key | undefined {
    const recent = text === undefined ? undefined : this.#recent.get(text)
    if (recent) return recent
    const hash = hashKey(text === undefined || text.length > longestKey ? '' : text)
    const key = this.#keys.get(lookupOf(hash))
    if (!timingSafeEqual(key?.hash ?? noHash, hash)) return undefined
    if (text !== undefined && key) this.#recent.set(text, key)
    return key
  }

  #follow({ kind, before, after }: CatalogChange): void {
    if (kind !== 'api_key' && kind !== 'service_token') return
    this.#recent.clear()
    const keyOf = (entry: typeof after) =>
      entry &&
      (kind === 'api_key' ? ofApiKey(entry as ApiKey) : ofServiceToken(entry as ServiceToken))
    const [old, now] = [keyOf(before), keyOf(after)]
    if (old) this.#keys.delete(lookupOf(old.hash))
    if (now) this.#add(now)
  }

  #add(key: Key): void {
    this.#keys.set(lookupOf(key.hash), key)
  }
}

function ofApiKey({ id, org_id, user_id, hash, expires_at }: ApiKey): Key {
  return {
    kind: 'api_key',
    id,
    organizationId: org_id,
    userId: user_id,
    hash: Buffer.from(hash, 'hex'),
    expiresMs: expiryMs({ expires_at }),
  }
}

function ofServiceToken(token: ServiceToken): Key {
  const { id, org_id, service_account_id, hash, expires_at } = token
  return {
    kind: 'service_token',
    id,
    organizationId: org_id,
    userId: service_account_id,
    hash: Buffer.from(hash, 'hex'),
    expiresMs: expiryMs({ expires_at }),
  }
}

function lookupOf(hash: Buffer): string {
  return hash.toString('base64', 0, 16)
}
