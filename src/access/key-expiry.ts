/** When keys and tokens end by themselves. */
import type { Catalog } from '../catalog/catalog.ts'
import type { ApiKey, ServiceToken } from '../catalog/entry.ts'

/** How long timers can wait. */
const longestWaitMs = 2 ** 31 - 1

/** The end of time as timestamps have it. */
const lastMs = Date.parse('9999-12-31T23:59:59Z')

export interface GivenExpiry {
  readonly expires_at?: string | null | undefined
  readonly token_expires_in_seconds?: number | null | undefined
}

/** The time that a request names in one way or the other; the earlier one of both. */
export function expiryOf(given: GivenExpiry): string | null {
  const { expires_at, token_expires_in_seconds: seconds } = given
  const times = [
    ...(expires_at ? [Date.parse(expires_at)] : []),
    ...(typeof seconds === 'number' ? [Date.now() + seconds * 1000] : []),
  ]
  if (times.length === 0) return null
  return new Date(Math.min(...times, lastMs)).toISOString()
}

/** In milliseconds; infinity for a key that never expires, as one of before keys could. */
export function expiryMs({ expires_at }: { readonly expires_at?: string | null }): number {
  return expires_at ? Date.parse(expires_at) : Number.POSITIVE_INFINITY
}

/** Of the key or token that somebody has come in with; in the past for one that is not there. */
export function keyExpiryMs(catalog: Catalog, keyId: string | null): number {
  if (keyId === null) return Number.POSITIVE_INFINITY
  const key: ApiKey | ServiceToken | undefined =
    catalog.get('api_key', keyId) ?? catalog.get('service_token', keyId)
  return key ? expiryMs(key) : 0
}

/** Tells listeners at the moment at which a key expires, for what is open then. */
export class KeyExpiry {
  /** Of those that have not expired yet, by id. */
  readonly #times = new Map<string, number>()
  readonly #listeners = new Set<() => void>()
  readonly #stopListening: () => void
  #timer: NodeJS.Timeout | undefined

  constructor(catalog: Catalog) {
    for (const key of catalog.list('api_key')) this.#add(key)
    for (const token of catalog.list('service_token')) this.#add(token)
    this.#stopListening = catalog.onChange((changes) => {
      for (const { kind, id, after } of changes) {
        if (kind !== 'api_key' && kind !== 'service_token') continue
        this.#times.delete(id)
        if (after) this.#add(after as ApiKey | ServiceToken)
        this.#wait()
      }
    })
    this.#wait()
  }

  /** Returns what ends that. */
  onExpiry(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#stopListening()
    clearTimeout(this.#timer)
  }

  #add(key: ApiKey | ServiceToken): void {
    const at = expiryMs(key)
    if (at > Date.now() && Number.isFinite(at)) this.#times.set(key.id, at)
  }

  #wait(): void {
    clearTimeout(this.#timer)
    if (this.#times.size === 0) return
    let next = Number.POSITIVE_INFINITY
    for (const at of this.#times.values()) next = Math.min(next, at)
    const wait = Math.max(0, next - Date.now())
    this.#timer = setTimeout(() => this.#expire(), Math.min(wait, longestWaitMs)).unref()
  }

  #expire(): void {
    const now = Date.now()
    let isAny = false
    for (const [id, at] of this.#times) {
      if (at > now) continue
      this.#times.delete(id)
      isAny = true
    }
    this.#wait()
    if (isAny) for (const listener of this.#listeners) listener()
  }
}
