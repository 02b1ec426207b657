/**
 * Rows that were looked up by their ids lately, as they are now. Whoever asks for a record mostly asks
 * for it again, and a row takes a hundredth of the memory of the block that it is read from.
 *
 * Rows lie one after the other in slabs. The oldest slab makes room for a new one; what is still asked for
 * in the older half of them is written once more, to the newest.
 */

const slabBytes = 2 ** 20

/** What a row takes besides its bytes, by estimate. */
const entryBytes = 256

/** Longer rows would leave much of a slab empty. */
const longestRow = slabBytes / 16

interface Slab {
  readonly number: number
  readonly bytes: Buffer
  used: number
  readonly places: Place[]
}

interface Place {
  readonly object: number
  readonly id: string
  readonly slab: Slab
  readonly start: number
  readonly end: number
}

export class KeptRows {
  readonly #mostBytes: number
  #bytes = 0
  /** The oldest first. */
  readonly #slabs: Slab[] = []
  readonly #objects = new Map<number, Map<string, Place>>()
  #lastNumber = 0

  /** @param bytes what all rows may take together; fewer than those of a slab keep none */
  constructor(bytes: number) {
    this.#mostBytes = bytes
  }

  /** The bytes of the row; they are never written over. */
  get(object: number, id: string): Buffer | undefined {
    const place = this.#objects.get(object)?.get(id)
    if (!place) return undefined
    const { slab, start, end } = place
    const row = slab.bytes.subarray(start, end)
    if (slab.number <= this.#lastNumber - this.#slabs.length / 2) this.#add(object, place.id, row)
    return row
  }

  /** Keeps a copy. */
  set(object: number, id: string, row: Uint8Array): void {
    // A part of a query's text would keep all of it in memory.
    const own = Buffer.from(id).toString()
    if (this.#mostBytes > slabBytes && row.length <= longestRow) this.#add(object, own, row)
  }

  /** Forgets a row that was written anew. */
  forget(object: number, id: string): void {
    this.#objects.get(object)?.delete(id)
  }

  #add(object: number, id: string, row: Uint8Array): void {
    let slab = this.#slabs.at(-1)
    if (!slab || slab.used + row.length > slabBytes) slab = this.#newSlab()
    const start = slab.used
    slab.used += row.length
    slab.bytes.set(row, start)
    const place: Place = { object, id, slab, start, end: slab.used }
    slab.places.push(place)
    this.#bytes += entryBytes
    const rows = this.#objects.get(object)
    if (rows) rows.set(id, place)
    else this.#objects.set(object, new Map([[id, place]]))
    while (this.#bytes > this.#mostBytes && this.#slabs.length > 1) this.#drop(this.#slabs.shift()!)
  }

  #newSlab(): Slab {
    const number = ++this.#lastNumber
    const slab: Slab = { number, bytes: Buffer.allocUnsafeSlow(slabBytes), used: 0, places: [] }
    this.#slabs.push(slab)
    this.#bytes += slabBytes
    return slab
  }

  #drop({ places }: Slab): void {
    this.#bytes -= slabBytes + places.length * entryBytes
    for (const place of places) {
      const rows = this.#objects.get(place.object)
      if (rows?.get(place.id) === place) rows.delete(place.id)
      if (rows?.size === 0) this.#objects.delete(place.object)
    }
  }
}
