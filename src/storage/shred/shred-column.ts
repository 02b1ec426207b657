/** Collects the columns of one path while its rows are shredded. */
import type { PathColumns, TextColumn } from '../../vector/column.ts'
import { elementsOf } from '../../vector/elements.ts'
import { TextBuilder } from './shred-text.ts'
import type { ByteSource } from './text-pool.ts'

/** What a row has at a path, a byte each; bitmaps are made of them in the end. */
export const kind = {
  nothing: 0,
  number: 1,
  timestamp: 2,
  false: 3,
  true: 4,
  text: 5,
  json: 6,
  object: 7,
  stored: 8,
  null: 9,
} as const

const kindCount = 10

/**
 * One path's columns in the making; those of types that never occur cost nothing. Rows come in
 * ascending order, and a row has one value at most.
 */
export class PathBuilder {
  readonly #rowCount: number
  /** By row; empty until the path has a value. */
  #kinds = new Uint8Array(0)
  #numbers: Float64Array | undefined
  #timestamps: Float64Array | undefined
  #text: TextBuilder | undefined
  #json: TextBuilder | undefined

  constructor(rowCount: number) {
    this.#rowCount = rowCount
  }

  /** Whether the row has something here, be it `null`. */
  has(row: number): boolean {
    // Out of bounds while there is nothing: undefined, which is not above 0.
    return this.#kinds[row]! > kind.nothing
  }

  /** Sets a kind that has no value beside it. */
  mark(row: number, what: number): void {
    if (this.#kinds.length === 0) this.#kinds = new Uint8Array(this.#rowCount)
    this.#kinds[row] = what
  }

  number(row: number, value: number): void {
    this.#numbers ??= new Float64Array(this.#rowCount).fill(Number.NaN)
    this.#numbers[row] = value
    this.mark(row, kind.number)
  }

  timestamp(row: number, ms: number): void {
    this.#timestamps ??= new Float64Array(this.#rowCount).fill(Number.NaN)
    this.#timestamps[row] = ms
    this.mark(row, kind.timestamp)
  }

  /**
   * The text is `stored` when the column has no room for it.
   *
   * @param verbatim whether the bytes stand so between quotes, without an escape
   */
  text(row: number, source: ByteSource, start: number, end: number, verbatim: boolean): void {
    this.#text ??= new TextBuilder(this.#rowCount)
    const kept = this.#text.append(row, source, start, end, verbatim)
    this.mark(row, kept ? kind.text : kind.stored)
  }

  /**
   * If the string that begins at `start` is the text that was set last, sets it again and returns
   * its length; else -1.
   */
  repeatText(row: number, source: ByteSource, start: number): number {
    const length = this.#text === undefined ? -1 : this.#text.repeat(row, source, start)
    if (length >= 0) this.#kinds[row] = kind.text
    return length
  }

  /** Returns false when the column has no room for the value, which is `stored` then. */
  json(row: number, source: ByteSource, start: number, end: number): boolean {
    this.#json ??= new TextBuilder(this.#rowCount)
    const kept = this.#json.append(row, source, start, end, false)
    this.mark(row, kept ? kind.json : kind.stored)
    return kept
  }

  /** Takes back whatever `row`, the last one, has here. */
  clear(row: number): void {
    switch (this.#kinds[row]) {
      case kind.number:
        this.#numbers![row] = Number.NaN
        break
      case kind.timestamp:
        this.#timestamps![row] = Number.NaN
        break
      case kind.text:
        this.#text!.clear(row)
        break
      case kind.json:
        this.#json!.clear(row)
    }
    this.#kinds[row] = kind.nothing
  }

  /** Undefined when no row has anything here. */
  finish(): PathColumns | undefined {
    return pathColumns(this.#kinds, {
      numbers: () => this.#numbers!,
      timestamps: () => this.#timestamps!,
      text: (validity) => this.#text!.finish(validity),
      json: (validity) => this.#json!.finish(validity),
    })
  }
}

/** Makes the values of a path's columns; only those of kinds that occur are asked for. */
export interface PathValues {
  /** NaN where a row has none. */
  numbers(): Float64Array
  timestamps(): Float64Array
  text(validity: Uint8Array | undefined): TextColumn
  json(validity: Uint8Array | undefined): TextColumn
}

/** The columns of a path whose rows have these kinds; undefined when no row has anything. */
export function pathColumns(kinds: Uint8Array, values: PathValues): PathColumns | undefined {
  const counts = countKinds(kinds)
  if (counts[kind.nothing] === kinds.length) return undefined
  const has = (what: number) => counts[what]! > 0
  const validity = (what: number) =>
    counts[what] === kinds.length ? undefined : bitmapOf(kinds, what, what)
  const booleans = counts[kind.false]! + counts[kind.true]!
  return {
    ...(has(kind.number) && {
      number: { values: elementsOf(values.numbers()), validity: validity(kind.number) },
    }),
    ...(has(kind.timestamp) && {
      timestamp: { values: elementsOf(values.timestamps()), validity: validity(kind.timestamp) },
    }),
    ...(booleans > 0 && {
      boolean: {
        bits: bitmapOf(kinds, kind.true, kind.true),
        validity: booleans === kinds.length ? undefined : bitmapOf(kinds, kind.false, kind.true),
      },
    }),
    ...(has(kind.text) && { text: values.text(validity(kind.text)) }),
    ...(has(kind.json) && { json: values.json(validity(kind.json)) }),
    ...(has(kind.object) && { objects: bitmapOf(kinds, kind.object, kind.object) }),
    ...(has(kind.stored) && { stored: bitmapOf(kinds, kind.stored, kind.stored) }),
    ...(has(kind.null) && { nulls: bitmapOf(kinds, kind.null, kind.null) }),
  }
}

function countKinds(kinds: Uint8Array): Uint32Array {
  const counts = new Uint32Array(kindCount)
  // In turns, because an increment waits for the one before it of the same counter.
  const others = new Uint32Array(kindCount)
  const even = kinds.length & ~1
  for (let row = 0; row < even; row += 2) {
    counts[kinds[row]!]!++
    others[kinds[row + 1]!]!++
  }
  if (even < kinds.length) counts[kinds[even]!]!++
  for (let what = 0; what < kindCount; what++) counts[what]! += others[what]!
  return counts
}

/** The rows whose kind is one of `first` to `last`. */
function bitmapOf(kinds: Uint8Array, first: number, last: number): Uint8Array {
  const bits = new Uint8Array((kinds.length + 7) >> 3)
  const span = last - first
  const whole = kinds.length >> 3
  for (let at = 0; at < whole; at++) {
    const row = at << 3
    let byte = 0
    for (let bit = 0; bit < 8; bit++) {
      if ((kinds[row + bit]! - first) >>> 0 <= span) byte |= 1 << bit
    }
    bits[at] = byte
  }
  for (let row = whole << 3; row < kinds.length; row++) {
    if ((kinds[row]! - first) >>> 0 <= span) bits[row >> 3]! |= 1 << (row & 7)
  }
  return bits
}
