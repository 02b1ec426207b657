/**
 * Texts of one field that all threads number alike, so that partial answers are put together by
 * numbers. Segments have dictionaries of their own; a map leads from the codes of each to these.
 *
 * Texts are only ever added. The arrays lie in shared memory and have room at their end, where one
 * thread may be adding; a reader keeps to the first `count` texts.
 */
import type { TextColumn, Texts, UncompressedColumn } from './column.ts'
import { findText, GrowingTexts, TextIndex, type TextSlots } from './text-index.ts'
import { decodeText } from './vector.ts'

/** Plain data over shared memory, for messages between threads. */
export interface SharedDictionary {
  /** Differs between dictionaries, and stays when texts are added. */
  readonly id: number
  readonly count: number
  readonly bytes: Uint8Array
  readonly offsets: Int32Array
  readonly slots: TextSlots
  /** By code: the only segment that has the text, or `severalHomes`. */
  readonly homes: Int32Array
  /** How many texts only one segment has. */
  readonly homed: number
}

/** No segment's id. */
export const severalHomes = -1
const noHome = -2

/** A shared dictionary, to look into. */
export class SharedTexts {
  readonly id: number
  readonly count: number
  readonly texts: Texts
  readonly homes: Int32Array
  readonly #slots: TextSlots

  constructor({ id, count, bytes, offsets, slots, homes }: SharedDictionary) {
    this.id = id
    this.homes = homes
    this.count = count
    // Between threads a Buffer becomes a plain Uint8Array.
    this.texts = { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), offsets }
    this.#slots = slots
  }

  /** -1 when the dictionary does not have the text. */
  codeOf(source: Buffer, start: number, end: number): number {
    return findText(this.#slots, this.texts, source, start, end, this.count)
  }

  textAt(code: number): string {
    return decodeText(this.texts, 'text', code) as string
  }
}

/** Codes of a shared dictionary for rows `from …`, where -1 is null. */
export interface SharedCodes {
  readonly dictionary: SharedTexts
  /** Codes that `map` leads on from, or those of the dictionary where there is no map. */
  readonly codes: Int32Array
  readonly map: Int32Array | undefined
}

/** Texts that are added without asking whether anybody still waits. */
const checkedTexts = 4096
/** The same of texts whose homes are noted. */
const checkedHomes = 1 << 17

/** Adds the texts of columns to a dictionary. One at a time may do so. */
export class SharedDictionaryBuilder {
  readonly #id: number
  readonly #texts: GrowingTexts
  readonly #index: TextIndex
  readonly #check: () => void
  #homes: Int32Array

  /**
   * @param before what there is; not to be used for older segments any more
   * @param check is called now and then; what it throws ends what is done
   */
  constructor(id: number, before: SharedDictionary | undefined, check = () => {}) {
    this.#check = check
    this.#id = id
    this.#homes = before?.homes ?? sharedNumbers(1024)
    this.#texts = before
      ? GrowingTexts.after(new SharedTexts(before).texts, before.count, check)
      : GrowingTexts.of(1024, 'shared', check)
    this.#index = new TextIndex('shared', before?.slots, check)
  }

  get byteLength(): number {
    return this.#texts.byteLength
  }

  /**
   * Forgets where texts were, and learns it from the maps of these segments alone. Queries that began
   * before keep what they have. A builder that was stopped at it is of no use any more.
   */
  setHomes(maps: ReadonlyMap<number, Int32Array>): void {
    this.#homes = sharedNumbers(Math.max(1024, this.#texts.count))
    for (const [segment, map] of maps) this.#settle(map, segment)
  }

  /**
   * Adds the texts of a segment's column, and gives their codes in shared memory: by code of the column's own
   * dictionary, or by row when it has none; -1 where the row has no text. When it was stopped, the dictionary has
   * some texts more, and the segment is still to be added.
   */
  add(column: TextColumn, segment: number): Int32Array {
    const validity = column.encoding === 'dictionary' ? undefined : column.validity
    const codes = new Int32Array(new SharedArrayBuffer(textCountOf(column) * 4))
    let first = 0
    this.#index.reserve(this.#texts.count + codes.length)
    for (const part of partsOf(column)) {
      const count = part.offsets.length - 1
      for (let from = 0; from < count; from += checkedTexts) {
        this.#check()
        const to = Math.min(count, from + checkedTexts)
        if (validity) this.#addValid(part, from, to, validity, codes, first + from)
        else this.#index.codesOf(this.#texts, part, from, to, codes, first + from)
      }
      first += count
    }
    this.#makeHomes()
    this.#settle(codes, segment)
    return codes
  }

  #addValid(
    part: Texts,
    from: number,
    to: number,
    validity: Uint8Array,
    codes: Int32Array,
    row: number,
  ): void {
    const isValid = (i: number) => {
      const at = row + i - from
      return ((validity[at >> 3]! >> (at & 7)) & 1) === 1
    }
    for (let i = from; i < to; ) {
      let end = i + 1
      while (end < to && isValid(end) === isValid(i)) end++
      const at = row + i - from
      if (isValid(i)) this.#index.codesOf(this.#texts, part, i, end, codes, at)
      else codes.fill(-1, at, at + end - i)
      i = end
    }
  }

  #makeHomes(): void {
    if (this.#homes.length >= this.#texts.count) return
    const homes = sharedNumbers(Math.max(this.#texts.count, this.#homes.length * 2))
    homes.set(this.#homes)
    this.#homes = homes
  }

  /** To be told twice that a segment has a text changes nothing. */
  #settle(codes: Int32Array, segment: number): void {
    const homes = this.#homes
    for (let i = 0; i < codes.length; i++) {
      if (i % checkedHomes === 0) this.#check()
      const code = codes[i]!
      if (code < 0 || homes[code] === segment) continue
      homes[code] = homes[code] === noHome ? segment : severalHomes
    }
  }

  finish(): SharedDictionary {
    this.#makeHomes()
    const { count, bytes, offsets } = this.#texts
    const homes = this.#homes
    const homed = countHomed(homes, count)
    return { id: this.#id, count, bytes, offsets, slots: this.#index.slots, homes, homed }
  }
}

function countHomed(homes: Int32Array, count: number): number {
  let homed = 0
  for (let code = 0; code < count; code++) if (homes[code]! >= 0) homed++
  return homed
}

function textCountOf(column: TextColumn): number {
  return column.encoding === 'compressed' ? column.texts.count : textsOf(column).offsets.length - 1
}

function partsOf(column: TextColumn): Iterable<Texts> {
  return column.encoding === 'compressed' ? column.texts.parts() : [textsOf(column)]
}

function textsOf(column: UncompressedColumn): Texts {
  return column.encoding === 'dictionary' ? column.dictionary : column.texts
}

function sharedNumbers(count: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(count * 4)).fill(noHome)
}
