/**
 * Rows whose residual may have a path: those whose text has all of its names, or names that may be escaped. The texts of
 * a granule are searched at once, and what is found is kept for later queries.
 */
import { ByteSearch, maximumNeedleBytes } from '../../kernel/text.ts'
import { granuleRows, type TextColumn } from '../../vector/column.ts'
import { textBytesAt, textsBetween } from '../../vector/read-column.ts'
import { countBelow } from '../../vector/sorted-integers.ts'
import { KeptValues } from '../thread/kept-values.ts'
import { forEachWith } from './texts-with.ts'

type UnnumberedColumn = Exclude<TextColumn, { readonly encoding: 'dictionary' }>

/** Where fewer rows are asked about, one in so many, their texts are looked at one by one. */
const rowsPerFew = 32

const backslash = 0x5c

/** Places in the granule, ascending. */
type NamedPlaces = Uint16Array

/** Of granules, by the identity of their texts, the path and their numbers. */
const kept = new KeptValues<NamedPlaces>()
/** Of an entry, besides the places. */
const keptEntryBytes = 256

export class NamedRows {
  readonly #residual: UnnumberedColumn
  readonly #rowCount: number
  readonly #key: string
  /** Those of the path, as JSON. */
  readonly #names: readonly Buffer[]
  readonly #innermost: Buffer
  readonly #search: ByteSearch | undefined
  /** The granule that was asked about last, what is known of it, and of how many of its rows. */
  #granule = -1
  #places: NamedPlaces | undefined
  #asked = 0

  /** @param path of one name at least */
  constructor(residual: UnnumberedColumn, rowCount: number, path: readonly string[]) {
    this.#residual = residual
    this.#rowCount = rowCount
    this.#key = JSON.stringify(path)
    this.#names = path.map((name) => Buffer.from(JSON.stringify(name)))
    this.#innermost = this.#names.at(-1)!
    const isSearched = this.#innermost.length <= maximumNeedleBytes
    this.#search = isSearched ? new ByteSearch(this.#innermost, false) : undefined
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
    return text !== undefined && this.#mayName(text)
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
    const { bytes, offsets } = texts
    const ends = offsets.subarray(first, first + count + 1)
    const [start, end] = [ends[0]!, ends[count]!]
    const region = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
    const found = new Set<number>()
    const name = this.#innermost
    const next = this.#search?.in(region) ?? ((at: number) => region.indexOf(name, at))
    // The innermost name is the rarest: the others are looked for where it is.
    forEachWith(next, name.length, ends, (row) => {
      const text = region.subarray(ends[row]! - start, ends[row + 1]! - start)
      if (this.#names.every((each) => text.includes(each))) found.add(row)
    })
    const nextEscape = (at: number) => region.indexOf(backslash, at)
    forEachWith(nextEscape, 1, ends, (row) => found.add(row))
    const places = Uint16Array.from(found).sort()
    const { identity } = this.#residual.texts
    const heldBytes = places.byteLength + keptEntryBytes
    if (identity) kept.set(identity, places, heldBytes, this.#nameOf(this.#granule))
    return places
  }

  #nameOf(granule: number): string {
    return `${granule} ${this.#key}`
  }

  #mayName(text: Uint8Array): boolean {
    const bytes = Buffer.from(text.buffer, text.byteOffset, text.length)
    return this.#names.every((name) => bytes.includes(name)) || bytes.includes(backslash)
  }
}
