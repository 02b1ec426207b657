/** Collects the columns of one path while its rows are shredded. */
import type { BooleanColumn, NumberColumn, PathColumns } from '../vector/column.ts'
import { TextBuilder } from './shred-text.ts'

export class BitmapBuilder {
  readonly #bits: Uint8Array
  #count = 0

  constructor(rowCount: number) {
    this.#bits = new Uint8Array((rowCount + 7) >> 3)
  }

  set(row: number): void {
    this.#bits[row >> 3]! |= 1 << (row & 7)
    this.#count++
  }

  clear(row: number): void {
    const bit = 1 << (row & 7)
    if ((this.#bits[row >> 3]! & bit) === 0) return
    this.#bits[row >> 3]! &= ~bit
    this.#count--
  }

  /** Undefined when no row is set. */
  finish(): Uint8Array | undefined {
    return this.#count === 0 ? undefined : this.#bits
  }

  /** As `finish`, for a validity: `all` tells that every row is set. */
  finishValidity(rowCount: number): { all: boolean; bits: Uint8Array } | undefined {
    return this.#count === 0 ? undefined : { all: this.#count === rowCount, bits: this.#bits }
  }
}

class NumberBuilder {
  readonly #values: Float64Array
  readonly #validity: BitmapBuilder

  constructor(rowCount: number) {
    this.#values = new Float64Array(rowCount).fill(Number.NaN)
    this.#validity = new BitmapBuilder(rowCount)
  }

  set(row: number, value: number): void {
    this.#values[row] = value
    this.#validity.set(row)
  }

  clear(row: number): void {
    this.#values[row] = Number.NaN
    this.#validity.clear(row)
  }

  finish(): NumberColumn | undefined {
    const validity = this.#validity.finishValidity(this.#values.length)
    return validity && { values: this.#values, validity: validity.all ? undefined : validity.bits }
  }
}

class BooleanBuilder {
  readonly #rowCount: number
  readonly #bits: BitmapBuilder
  readonly #validity: BitmapBuilder

  constructor(rowCount: number) {
    this.#rowCount = rowCount
    this.#bits = new BitmapBuilder(rowCount)
    this.#validity = new BitmapBuilder(rowCount)
  }

  set(row: number, value: boolean): void {
    if (value) this.#bits.set(row)
    this.#validity.set(row)
  }

  clear(row: number): void {
    this.#bits.clear(row)
    this.#validity.clear(row)
  }

  finish(): BooleanColumn | undefined {
    const validity = this.#validity.finishValidity(this.#rowCount)
    return (
      validity && {
        bits: this.#bits.finish() ?? new Uint8Array((this.#rowCount + 7) >> 3),
        validity: validity.all ? undefined : validity.bits,
      }
    )
  }
}

/**
 * One path's columns in the making; those of types that never occur cost nothing. Rows come in
 * ascending order, and a row has one value at most.
 */
export class PathBuilder {
  readonly #rowCount: number
  #number: NumberBuilder | undefined
  #timestamp: NumberBuilder | undefined
  #boolean: BooleanBuilder | undefined
  #text: TextBuilder | undefined
  #json: TextBuilder | undefined
  #objects: BitmapBuilder | undefined
  #stored: BitmapBuilder | undefined
  #nulls: BitmapBuilder | undefined

  constructor(rowCount: number) {
    this.#rowCount = rowCount
  }

  number(row: number, value: number): void {
    this.#number ??= new NumberBuilder(this.#rowCount)
    this.#number.set(row, value)
  }

  timestamp(row: number, ms: number): void {
    this.#timestamp ??= new NumberBuilder(this.#rowCount)
    this.#timestamp.set(row, ms)
  }

  boolean(row: number, value: boolean): void {
    this.#boolean ??= new BooleanBuilder(this.#rowCount)
    this.#boolean.set(row, value)
  }

  /** False when the column has no room for the text. */
  text(row: number, source: Buffer, start: number, end: number): boolean {
    this.#text ??= new TextBuilder(this.#rowCount)
    if (!this.#text.hasRoom(end - start)) return false
    this.#text.append(row, source, start, end)
    return true
  }

  /** False when the column has no room for the text. */
  json(row: number, source: Buffer, start: number, end: number): boolean {
    this.#json ??= new TextBuilder(this.#rowCount)
    if (!this.#json.hasRoom(end - start)) return false
    this.#json.append(row, source, start, end)
    return true
  }

  object(row: number): void {
    this.#objects ??= new BitmapBuilder(this.#rowCount)
    this.#objects.set(row)
  }

  stored(row: number): void {
    this.#stored ??= new BitmapBuilder(this.#rowCount)
    this.#stored.set(row)
  }

  null(row: number): void {
    this.#nulls ??= new BitmapBuilder(this.#rowCount)
    this.#nulls.set(row)
  }

  /** Takes back whatever `row`, the last one, has here. */
  clear(row: number): void {
    this.#number?.clear(row)
    this.#timestamp?.clear(row)
    this.#boolean?.clear(row)
    this.#text?.clear(row)
    this.#json?.clear(row)
    this.#objects?.clear(row)
    this.#stored?.clear(row)
    this.#nulls?.clear(row)
  }

  /** Undefined when no row has anything here. */
  finish(): PathColumns | undefined {
    const number = this.#number?.finish()
    const timestamp = this.#timestamp?.finish()
    const boolean = this.#boolean?.finish()
    const text = this.#text?.finish()
    const json = this.#json?.finish()
    const objects = this.#objects?.finish()
    const stored = this.#stored?.finish()
    const nulls = this.#nulls?.finish()
    const columns = {
      ...(number && { number }),
      ...(timestamp && { timestamp }),
      ...(boolean && { boolean }),
      ...(text && { text }),
      ...(json && { json }),
      ...(objects && { objects }),
      ...(stored && { stored }),
      ...(nulls && { nulls }),
    }
    return Object.keys(columns).length === 0 ? undefined : columns
  }
}
