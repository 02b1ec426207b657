/** A database whose values carry checksums that are verified whenever one is read. */
import { checkedContent, checkedValue, seedOf } from './checksum.ts'
import { damageAt, damageError, type RecordDamage, type RecordsDatabase } from './record-damage.ts'

export interface KeyRange<Transaction> {
  readonly start?: Buffer
  readonly end?: Buffer
  readonly reverse?: boolean
  readonly limit?: number
  readonly exclusiveStart?: boolean
  readonly snapshot?: boolean
  readonly transaction?: Transaction
}

export interface KeyedValue {
  readonly key: Buffer
  readonly value: Buffer
}

/** What is used of a database of LMDB. */
export interface PlainDatabase<Transaction> {
  get(key: Buffer, options?: { readonly transaction?: Transaction }): Buffer | undefined
  getBinaryFast(key: Buffer, options?: { readonly transaction?: Transaction }): Buffer | undefined
  getRange(range?: KeyRange<Transaction>): Iterable<KeyedValue>
  getKeys(range?: KeyRange<Transaction>): Iterable<Buffer>
  getKeysCount(range?: KeyRange<Transaction>): number
  getStats(): object
  putSync(key: Buffer, value: Buffer): unknown
  removeSync(key: Buffer): unknown
}

/**
 * Takes and gives contents. What reads a value throws STORAGE_CORRUPT when it is damaged; keys are checked with their
 * values only.
 */
export class CheckedDatabase<Transaction> {
  readonly name: RecordsDatabase
  readonly stored: PlainDatabase<Transaction>
  readonly #basis: number
  readonly #mayBeUnchecked: (key: Buffer) => boolean

  /** @param mayBeUnchecked whether an older version may have written what stands there, without a checksum */
  constructor(
    name: RecordsDatabase,
    stored: PlainDatabase<Transaction>,
    mayBeUnchecked: (key: Buffer) => boolean,
  ) {
    this.name = name
    this.stored = stored
    this.#basis = seedOf(Buffer.from(name), 0)
    this.#mayBeUnchecked = mayBeUnchecked
  }

  get(key: Buffer, options?: { readonly transaction?: Transaction }): Buffer | undefined {
    const value = this.stored.get(key, options)
    return value && this.#content(key, value)
  }

  /** As `get`, but undefined when the value is damaged: for what has a value that is right in any case. */
  getUnlessDamaged(
    key: Buffer,
    options?: { readonly transaction?: Transaction },
  ): Buffer | undefined {
    const value = this.stored.get(key, options)
    return value && this.#read(key, value)
  }

  /** Whether there is a value, damaged or not. */
  has(key: Buffer): boolean {
    return this.stored.getBinaryFast(key) !== undefined
  }

  /** As `get`, in memory that is written over when the next value is read. */
  getBinaryFast(key: Buffer, options?: { readonly transaction?: Transaction }): Buffer | undefined {
    const value = this.stored.getBinaryFast(key, options)
    // Of memory that is lent, `length` says less than there is, which nothing but `subarray` goes by.
    return value && this.#content(key, value.subarray(0, value.length))
  }

  *getRange(range?: KeyRange<Transaction>): Generator<KeyedValue> {
    for (const { key, value } of this.stored.getRange(range)) {
      yield { key, value: this.#content(key, value) }
    }
  }

  /** As `getRange`, without what is damaged, which is told of instead. */
  *getReadable(
    range: KeyRange<Transaction>,
    onDamage: (damage: RecordDamage, key: Buffer) => void,
  ): Generator<KeyedValue> {
    for (const { key, value } of this.stored.getRange(range)) {
      const content = this.#read(key, value)
      if (content) yield { key, value: content }
      else onDamage(damageAt(this.name, key), key)
    }
  }

  /** They are not checked. */
  getKeys(range?: KeyRange<Transaction>): Iterable<Buffer> {
    return this.stored.getKeys(range)
  }

  getKeysCount(range?: KeyRange<Transaction>): number {
    return this.stored.getKeysCount(range)
  }

  getStats(): object {
    return this.stored.getStats()
  }

  putSync(key: Buffer, content: Buffer): void {
    this.stored.putSync(key, this.#valueOf(key, content))
  }

  removeSync(key: Buffer): void {
    this.stored.removeSync(key)
  }

  /**
   * Gives checksums to values that have none, of up to `limit` that come after `after`. Returns the key of the last that
   * was looked at, undefined when there are no more. Must be called in a write transaction.
   */
  addChecksums(after: Buffer | undefined, limit: number): Buffer | undefined {
    const range = { limit, ...(after && { start: after, exclusiveStart: true }) }
    const values = Array.from(this.stored.getRange(range))
    for (const { key, value } of values) {
      if (checkedContent(value, this.#seed(key)) === 'unchecked') this.putSync(key, value)
    }
    return values.length < limit ? undefined : values.at(-1)!.key
  }

  #valueOf(key: Buffer, content: Buffer): Buffer {
    return checkedValue(content, this.#seed(key))
  }

  #content(key: Buffer, value: Buffer): Buffer {
    const content = this.#read(key, value)
    if (!content) throw damageError(damageAt(this.name, key))
    return content
  }

  #read(key: Buffer, value: Buffer): Buffer | undefined {
    const content = checkedContent(value, this.#seed(key))
    if (content !== 'unchecked') return content
    return this.#mayBeUnchecked(key) ? value : undefined
  }

  #seed(key: Buffer): number {
    return seedOf(key, this.#basis)
  }
}
