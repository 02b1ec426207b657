/**
 * Rows that were looked up by their ids lately, as they are now. Whoever asks for a record mostly asks
 * for it again, and a row takes a twentieth of the memory that is kept of its block.
 *
 * Rows lie end to end in two large chunks of memory, each behind what else is known of it: a buffer or an object
 * for each would take half a kilobyte more, and be work for the collector. Once the newer chunk is full, the older
 * one is emptied and becomes the newer; a row that is asked for in the older one is put into the newer one again.
 *
 *     row = text length u32, length as it is stored u48, pagination key u64, text
 */
import type { RowKey } from '../../type/transaction.ts'
import { readUint, readUint48, writeUint, writeUint48 } from '../big-endian.ts'
import { readRowKey, writeRowKey } from '../record-key.ts'

/** What a row takes elsewhere, by estimate: its name, and its place in a map. */
const entryBytes = 192
const headBytes = 18

/** Of longer ones few would be kept. */
const longestText = 64 * 1024

/** With less than this nothing is kept. */
const leastBytes = 2 ** 20

export interface CachedRow {
  /** As `select: *` shows it. */
  readonly text: Uint8Array
  readonly paginationKey: RowKey
  /** As it is stored. */
  readonly byteLength: number
}

class Generation {
  /** Where the row of each name begins. */
  readonly #starts = new Map<string, number>()
  readonly #capacity: number
  #rows: Buffer | undefined
  #length = 0

  /** @param capacity what its rows may take together */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get(name: string): CachedRow | undefined {
    const start = this.#starts.get(name)
    const rows = this.#rows
    if (start === undefined || !rows) return undefined
    const text = start + headBytes
    return {
      text: rows.subarray(text, text + readUint(rows, start)),
      paginationKey: readRowKey(rows, start + 10),
      byteLength: readUint48(rows, start + 4),
    }
  }

  /** False when there is no room. */
  add(name: string, { text, paginationKey, byteLength }: CachedRow): boolean {
    const start = this.#length
    const end = start + headBytes + text.length
    if (end + (this.#starts.size + 1) * entryBytes > this.#capacity) return false
    // What is never written to is not taken from the system.
    this.#rows ??= Buffer.allocUnsafeSlow(this.#capacity)
    const rows = this.#rows
    writeUint(rows, start, text.length)
    writeUint48(rows, start + 4, byteLength)
    writeRowKey(rows, start + 10, paginationKey)
    rows.set(text, start + headBytes)
    this.#starts.set(name, start)
    this.#length = end
    return true
  }

  delete(name: string): void {
    this.#starts.delete(name)
  }

  clear(): void {
    this.#starts.clear()
    this.#length = 0
  }
}

export class RowCache {
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
  get(object: number, id: string): CachedRow | undefined {
    const name = nameOf(object, id)
    const row = this.#newer.get(name)
    if (row) return row
    const old = this.#older.get(name)
    return old && this.#add(name, old)
  }

  /** Keeps a copy. */
  set(object: number, id: string, row: CachedRow): void {
    if (this.#isOn && row.text.length <= longestText) this.#add(nameOf(object, id), row)
  }

  /** Forgets a row that was written anew. */
  forget(object: number, id: string): void {
    const name = nameOf(object, id)
    this.#newer.delete(name)
    this.#older.delete(name)
  }

  #add(name: string, row: CachedRow): CachedRow | undefined {
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
