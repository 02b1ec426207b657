/**
 * Rows whose residual may have a path. The texts of a granule are searched at once, and what is found is kept for later
 * queries.
 */
import { granuleRows, type UnnumberedColumn } from '../../vector/column.ts'
import { textBytesAt, textsBetween } from '../../vector/read-column.ts'
import { countBelow } from '../../vector/sorted-integers.ts'
import { ValueCache } from '../thread/value-cache.ts'
import { NameSearch } from './name-search.ts'

/** Where fewer rows are asked about, one in so many, their texts are looked at one by one. */
const rowsPerFew = 32

/** Places in the granule, ascending. */
type NamedPlaces = Uint16Array

/** Of granules, by the identity of their texts, the path and their numbers. */
const kept = new ValueCache<NamedPlaces>()
/** Of an entry, besides the places. */
const keptEntryBytes = 256

export class NamedRows {
  readonly #residual: UnnumberedColumn
  readonly #rowCount: number
  readonly #key: string
  readonly #search: NameSearch
  /** The granule that was asked about last, what is known of it, and of how many of its rows. */
  #granule = -1
  #places: NamedPlaces | undefined
  #asked = 0

  /** @param path of one name at least */
  constructor(residual: UnnumberedColumn, rowCount: number, path: readonly string[]) {
    this.#residual = residual
    this.#rowCount = rowCount
    this.#key = JSON.stringify(path)
    this.#search = new NameSearch(path)
  }

  /** Whether the row is one of them. To be asked of rows that are read one after the other. */
  has(row: number): boolean {
    this.#turnTo(Math.floor(row / granuleRows))
    if (!this.#places && ++this.#asked * rowsPerFew > granuleRows) this.#places = this.#find()
    if (this.#places) {
      const place = row % granuleRows
      return this.#places[countBelow(this.#places, place)] === place
    }
    const text = textBytesAt(this.#residual, row)
    return text !== undefined && this.#search.isIn(text)
  }

  /**
   * Marks those of the rows that are among them.
   *
   * @param rows ascending, counted from `from`, of `from … from + count`; others of these may be marked, too
   */
  mark(rows: Int32Array, from: number, count: number, marks: Uint8Array): void {
    if (rows.length * rowsPerFew < count) {
      for (let i = 0; i < rows.length; i++) if (this.has(from + rows[i]!)) marks[rows[i]!] = 1
      return
    }
    for (let start = from - (from % granuleRows); start < from + count; start += granuleRows) {
      this.#turnTo(start / granuleRows)
      this.#places ??= this.#find()
      const places = this.#places
      const shift = start - from
      for (let i = countBelow(places, -shift); places[i]! + shift < count; i++) {
        marks[places[i]! + shift] = 1
      }
    }
  }

  #turnTo(granule: number): void {
    if (granule === this.#granule) return
    this.#granule = granule
    this.#asked = 0
    const { identity } = this.#residual.texts
    this.#places = identity && kept.get(identity, this.#nameOf(granule))
  }

  #find(): NamedPlaces {
    const from = this.#granule * granuleRows
    const count = Math.min(granuleRows, this.#rowCount - from)
    const { texts, first } = textsBetween(this.#residual, from, count, undefined)
    const places = Uint16Array.from(this.#search.among(texts, first, count)).sort()
    const { identity } = this.#residual.texts
    const heldBytes = places.byteLength + keptEntryBytes
    if (identity) kept.set(identity, places, heldBytes, this.#nameOf(this.#granule))
    return places
  }

  #nameOf(granule: number): string {
    return `${granule} ${this.#key}`
  }
}
