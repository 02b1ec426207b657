/**
 * Rows that were looked up by their ids lately, as they are now. Whoever asks for a record mostly asks
 * for it again, and a row takes a twentieth of the memory that is kept of its block.
 *
 * Texts lie end to end in two large pieces of memory: a buffer for each would take half a kilobyte more, and
 * be work for the collector. Once the newer piece is full, the older one is emptied and becomes the newer;
 * a row that is asked for in the older one is put into the newer one again.
 */
import type { RowKey } from '../type/transaction.ts'

/** What a row takes besides its text, by estimate: its name, what is known of it, and places in maps. */
const entryBytes = 256

/** Of longer ones few would be kept. */
const longestText = 64 * 1024

/** With less than this nothing is kept. */
const leastBytes = 2 ** 20

export interface KeptRow {
  /** As `select: *` shows it. */
  readonly text: Uint8Array
  readonly paginationKey: RowKey
  /** As it is stored. */
  readonly byteLength: number
}

interface Entry extends Pick<KeptRow, 'paginationKey' | 'byteLength'> {
  readonly start: number
  readonly end: number
}

class Generation {
  readonly #entries = new Map<string, Entry>()
  readonly #capacity: number
  #texts: Buffer | undefined
  #length = 0

  /** @param capacity what its rows may take together */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get(name: string): KeptRow | undefined {
    const entry = this.#entries.get(name)
    if (!entry || !this.#texts) return undefined
    const { start, end, paginationKey, byteLength } = entry
    return { text: this.#texts.subarray(start, end), paginationKey, byteLength }
  }

  /** False when there is no room. */
  add(name: string, { text, paginationKey, byteLength }: KeptRow): boolean {
    const start = this.#length
    const end = start + text.length
    if (end + (this.#entries.size + 1) * entryBytes > this.#capacity) return false
    // What is never written to is not taken from the system.
    this.#texts ??= Buffer.allocUnsafeSlow(this.#capacity)
    this.#texts.set(text, start)
    this.#entries.set(name, { start, end, paginationKey, byteLength })
    this.#length = end
    return true
  }

  delete(name: string): void {
    this.#entries.delete(name)
  }

  clear(): void {
    this.#entries.clear()
    this.#length = 0
  }
}

export class KeptRows {
  readonly #isOn: boolean
  #newer: Generation
  #older: Generation

  /** @param bytes what all rows may take together */
  constructor(bytes: number) {
    this.#isOn = bytes >= leastBytes
    this.#newer = new Generation(Math.floor(bytes / 2))
    this.#older = new Generation(Math.floor(bytes / 2))
  }

  /** The row, whose text may be written over by the next call. */
  get(object: number, id: string): KeptRow | undefined {
    const name = nameOf(object, id)
    const row = this.#newer.get(name)
    if (row) return row
    const old = this.#older.get(name)
    return old && this.#add(name, old)
  }

  /** Keeps a copy. */
  set(object: number, id: string, row: KeptRow): void {
    if (this.#isOn && row.text.length <= longestText) this.#add(nameOf(object, id), row)
  }

  /** Forgets a row that was written anew. */
  forget(object: number, id: string): void {
    const name = nameOf(object, id)
    this.#newer.delete(name)
    this.#older.delete(name)
  }

  #add(name: string, row: KeptRow): KeptRow | undefined {
    if (!this.#newer.add(name, row)) {
      const emptied = this.#older
      this.#older = this.#newer
      this.#newer = emptied
      emptied.clear()
      emptied.add(name, row)
    }
    return this.#newer.get(name)
  }
}

function nameOf(object: number, id: string): string {
  return `${object}/${id}`
}
