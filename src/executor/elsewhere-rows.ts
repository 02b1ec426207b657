/**
 * Rows that may have a field in another place than its columns: in the residual or the row store. Those
 * that have an object of which only members are there are not among them.
 */
import { anyBit, expandBits } from '../kernel/bitmap.ts'
import { orInto } from '../kernel/logic.ts'
import { newBytes, newCodes } from '../kernel/memory.ts'
import type { ColumnSet, TextColumn } from '../vector/column.ts'
import { bytesOfText, isSet, storedRows, textBytesAt, textsBetween } from '../vector/read-column.ts'
import { rowsOf, type Selection } from '../vector/vector.ts'
import { selectPresent, selectPresentWithin } from './select-present.ts'

/** Of a batch with more rows than this times those asked about, their residuals are read one by one. */
const rowsPerFew = 32

const notAsked = 2

const backslash = Buffer.of(0x5c)

export class ElsewhereRows {
  /** Bitmaps of rows of which the row store alone has the field. */
  readonly #stored: readonly Uint8Array[]
  readonly #residual: TextColumn | undefined
  /** Of all rows that have one of both, where not all rows have a residual. */
  readonly #bitmaps: readonly Uint8Array[]
  /** Those of the path, as JSON. */
  readonly #names: readonly Buffer[]
  /** Of a residual with a dictionary, by code: whether an entry has the names, or `notAsked`. */
  #named: Uint8Array | undefined

  constructor(set: ColumnSet, path: readonly string[]) {
    this.#stored = storedRows(set, path)
    this.#residual = set.residualMayBe(path) ? set.residual : undefined
    this.#bitmaps = [
      ...this.#stored,
      ...(this.#residual?.validity ? [this.#residual.validity] : []),
    ]
    this.#names = path.map((name) => Buffer.from(JSON.stringify(name)))
  }

  /** Whether the field may be elsewhere in some of the rows `from … from + count` of the set. */
  any(from: number, count: number): boolean {
    const residual = this.#residual
    if (residual && (!residual.validity || anyBit(residual.validity, from, count))) return true
    return this.#stored.some((bits) => anyBit(bits, from, count))
  }

  /** Of the selected rows of a batch, those to be looked at, ascending. */
  among(selection: Selection, from: number, count: number): Int32Array {
    const bitmaps = this.#bitmaps.filter((bits) => anyBit(bits, from, count))
    const isAnyRow = this.#residual !== undefined && this.#residual.validity === undefined
    if (bitmaps.length === 0 && !isAnyRow) return none
    const rows = isAnyRow ? rowsOf(selection, count) : selectIn(bitmaps, from, count, selection)
    const marks = newBytes(count).fill(0)
    const bits = newBytes(count)
    for (const stored of this.#stored) {
      if (!anyBit(stored, from, count)) continue
      expandBits(stored, from, count, bits)
      orInto(marks, bits, count)
    }
    if (this.#residual) this.#markNamed(this.#residual, rows, from, count, marks)
    const kept = newCodes(rows.length)
    let keptCount = 0
    for (let i = 0; i < rows.length; i++) {
      kept[keptCount] = rows[i]!
      keptCount += marks[rows[i]!]!
    }
    return kept.subarray(0, keptCount)
  }

  /** Marks rows whose residual has the path's names, or names that may be escaped. */
  #markNamed(
    residual: TextColumn,
    rows: Int32Array,
    from: number,
    count: number,
    marks: Uint8Array,
  ): void {
    const { validity } = residual
    if (validity && !anyBit(validity, from, count)) return
    if (residual.encoding === 'dictionary') {
      this.#markCodes(residual, rows, from, marks)
      return
    }
    if (rows.length * rowsPerFew < count) {
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i]!
        if (validity && !isSet(validity, from + row)) continue
        if (this.#mayName(textBytesAt(residual, from + row))) marks[row] = 1
      }
      return
    }
    const { texts, first } = textsBetween(residual, from, count, rows)
    const { bytes, offsets } = texts
    const ends = offsets.subarray(first, first + count + 1)
    const [start, end] = [ends[0]!, ends[count]!]
    const region = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
    // The innermost name is the rarest: the others are looked for where it is.
    forEachWith(this.#names.at(-1)!, region, ends, (row) => {
      const text = region.subarray(ends[row]! - start, ends[row + 1]! - start)
      marks[row]! |= +this.#names.every((name) => text.includes(name))
    })
    forEachWith(backslash, region, ends, (row) => {
      marks[row] = 1
    })
  }

  #markCodes(
    { codes, dictionary }: Extract<TextColumn, { readonly encoding: 'dictionary' }>,
    rows: Int32Array,
    from: number,
    marks: Uint8Array,
  ): void {
    this.#named ??= new Uint8Array(dictionary.offsets.length - 1).fill(notAsked)
    const named = this.#named
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!
      const code = codes[from + row]!
      if (code < 0) continue
      if (named[code] === notAsked) named[code] = +this.#mayName(bytesOfText(dictionary, code))
      marks[row]! |= named[code]!
    }
  }

  #mayName(bytes: Uint8Array | undefined): boolean {
    if (!bytes) return false
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    // A name may be escaped where it need not be.
    return this.#names.every((name) => text.includes(name)) || text.includes(backslash)
  }
}

const none = new Int32Array(0)

function selectIn(
  bitmaps: readonly Uint8Array[],
  first: number,
  count: number,
  selection: Selection,
): Int32Array {
  const out = newCodes(selection ? selection.length : count)
  const selected = selection
    ? selectPresentWithin({ bitmaps, first }, true, selection, out)
    : selectPresent({ bitmaps, first }, true, count, out)
  return out.subarray(0, selected)
}

/**
 * Calls `found` once for each text that has the bytes: to search many texts at once takes a fraction of
 * what a search of each takes.
 *
 * @param ends where texts begin and end; that of the first is the region's start
 */
function forEachWith(
  needle: Buffer,
  region: Buffer,
  ends: Int32Array,
  found: (row: number) => void,
): void {
  const start = ends[0]!
  let row = 0
  let at = region.indexOf(needle)
  while (at >= 0) {
    while (ends[row + 1]! - start <= at) row++
    const end = ends[row + 1]! - start
    const isWithin = at + needle.length <= end
    if (isWithin) found(row)
    at = region.indexOf(needle, isWithin ? end : at + 1)
  }
}
