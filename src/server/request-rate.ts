import type { Principal } from '../access/principal.ts'
import type { RequestRates } from '../config.ts'
import { AssayError } from '../error.ts'

/** Keys or organizations that are kept in mind; one that is forgotten begins anew. */
const maximumOwners = 10_000

interface Bucket {
  /** Requests that may come now. */
  left: number
  /** When that was so, in milliseconds of `performance.now()`. */
  at: number
}

/**
 * So many requests a minute for each of many owners. A minute's worth may come at once; from then on
 * they come back one by one.
 */
export class RequestRate {
  readonly #perMinute: number
  readonly #whose: string
  readonly #buckets = new Map<string, Bucket>()

  /** @param whose `this key` or `this organization`, for errors */
  constructor(perMinute: number, whose: string) {
    this.#perMinute = perMinute
    this.#whose = whose
  }

  /** Counts a request. Throws LIMIT_RATE, with the time until the next may come. */
  take(owner: string, now: number): void {
    const perMinute = this.#perMinute
    const bucket = this.#bucketOf(owner, now)
    bucket.left = Math.min(perMinute, bucket.left + ((now - bucket.at) / 60_000) * perMinute)
    bucket.at = now
    if (bucket.left < 1) {
      const seconds = Math.max(1, Math.ceil(((1 - bucket.left) * 60) / perMinute))
      throw new AssayError(
        'LIMIT_RATE',
        `${this.#whose} may make ${perMinute.toLocaleString('en')} requests a minute`,
        { hint: `try again in ${seconds} s`, retryAfterSeconds: seconds },
      )
    }
    bucket.left--
  }

  /** The one that was used last is at the end. */
  #bucketOf(owner: string, now: number): Bucket {
    const bucket = this.#buckets.get(owner) ?? { left: this.#perMinute, at: now }
    this.#buckets.delete(owner)
    this.#buckets.set(owner, bucket)
    if (this.#buckets.size > maximumOwners) {
      for (const oldest of this.#buckets.keys()) {
        this.#buckets.delete(oldest)
        break
      }
    }
    return bucket
  }
}

/** How many requests a minute each key and each organization may make. */
export class RequestLimits {
  readonly #perKey: RequestRate | undefined
  readonly #perOrganization: RequestRate | undefined

  constructor({ perKey, perOrganization }: Partial<RequestRates> = {}) {
    this.#perKey = perKey === undefined ? undefined : new RequestRate(perKey, 'this key')
    this.#perOrganization =
      perOrganization === undefined
        ? undefined
        : new RequestRate(perOrganization, 'this organization')
  }

  /** Counts a request. Throws LIMIT_RATE when there are too many. */
  count({ keyId, organizationId }: Principal): void {
    if (!this.#perKey && !this.#perOrganization) return
    const now = performance.now()
    this.#perKey?.take(keyId ?? '', now)
    this.#perOrganization?.take(organizationId, now)
  }
}
