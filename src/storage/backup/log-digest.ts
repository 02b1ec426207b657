/**
 * What tells a stretch of the log from what it was when it was read: rows that leave the service, or are mended, change their
 * entries. It is the exclusive or of the entries' hashes, so that it can be made bit by bit, in any order.
 */
import { createHash } from 'node:crypto'

const hashBytes = 32

export class LogDigest {
  readonly #sum: Buffer

  /** @param digest of entries that were added to another one */
  constructor(digest?: string) {
    this.#sum = digest === undefined ? Buffer.alloc(hashBytes) : Buffer.from(digest, 'hex')
  }

  add(key: Uint8Array, value: Uint8Array): void {
    const hash = createHash('sha256').update(key).update(value).digest()
    for (let i = 0; i < hashBytes; i++) this.#sum[i]! ^= hash[i]!
  }

  get text(): string {
    return this.#sum.toString('hex')
  }
}
