/**
 * Identifiers of a column in half of their bytes: texts that are all UUIDs, or all of as many hexadecimal
 * digits, in lower case. Each row takes the same bytes, those without a text as well, so that nothing
 * tells where texts end.
 */

import { newCodes, newText } from '../../kernel/arena.ts'
import { writeDigits, writeUuids } from '../../kernel/digits.ts'
import { type CompressedTexts, granuleRows, type Texts } from '../../vector/column.ts'
import { countSet, isValid } from '../../vector/read-column.ts'
import { areDigits, isUuid, packDigits, unpackDigits } from '../row/packed-value.ts'

/** What texts are: `uuid`, or so many pairs of digits as a row has bytes. */
export type IdentifierForm = 'uuid' | 'digits'

export interface PackedShape {
  readonly form: IdentifierForm
  /** Bytes per row. */
  readonly width: number
}

export interface WrittenIdentifiers extends PackedShape {
  readonly bytes: Uint8Array
}

const uuidLength = 36
const uuidWidth = 16

/** Shorter ones are numbers or words as likely, longer ones rare. */
const fewestDigits = 8
const mostDigits = 128

/** Undefined when the texts are no identifiers, or would take no less. */
export function packTexts(
  texts: Texts,
  validity: Uint8Array | undefined,
): WrittenIdentifiers | undefined {
  const { bytes, offsets } = texts
  const count = offsets.length - 1
  const shape = shapeOf(texts, validity)
  if (shape === undefined) return undefined
  const { form, width } = shape
  const length = lengthOf(shape)
  const textCount = validity ? countSet(validity) : count
  if (width * count >= length * textCount + count * offsets.BYTES_PER_ELEMENT) return undefined
  const packed = new Uint8Array(width * count)
  for (let row = 0; row < count; row++) {
    if (!isValid(validity, row)) continue
    const start = offsets[row]!
    const end = offsets[row + 1]!
    if (end - start !== length) return undefined
    if (form === 'uuid' ? !isUuid(bytes, start) : !areDigits(bytes, start, end)) return undefined
    packDigits(bytes, start, end, packed, row * width)
  }
  return { form, width, bytes: packed }
}

/** The only one that is possible, by the first text. */
function shapeOf(
  { bytes, offsets }: Texts,
  validity: Uint8Array | undefined,
): PackedShape | undefined {
  let row = 0
  while (row < offsets.length - 1 && !isValid(validity, row)) row++
  if (row === offsets.length - 1) return undefined
  const start = offsets[row]!
  const length = offsets[row + 1]! - start
  if (length === uuidLength && isUuid(bytes, start)) return { form: 'uuid', width: uuidWidth }
  const isWide = length >= fewestDigits && length <= mostDigits
  return isWide && length % 2 === 0 ? { form: 'digits', width: length / 2 } : undefined
}

/** Bytes of a text. */
export function lengthOf({ form, width }: PackedShape): number {
  return form === 'uuid' ? uuidLength : width * 2
}

/** Of so many rows one that is needed makes it faster to write the texts of all. */
const rowsPerFew = 8

const noBytes = Buffer.alloc(0)

export class PackedTexts implements CompressedTexts {
  readonly count: number
  readonly areApart = true
  readonly #bytes: Uint8Array
  readonly #shape: PackedShape
  readonly #length: number
  readonly #validity: Uint8Array | undefined

  /** @param bytes those of all rows, end to end */
  constructor(bytes: Uint8Array, shape: PackedShape, validity: Uint8Array | undefined) {
    this.count = bytes.length / shape.width
    this.#bytes = bytes
    this.#shape = shape
    this.#length = lengthOf(shape)
    this.#validity = validity
  }

  lengthAt(row: number): number {
    return isValid(this.#validity, row) ? this.#length : 0
  }

  textAt(row: number): Buffer {
    if (!isValid(this.#validity, row)) return noBytes
    const { form, width } = this.#shape
    const text = Buffer.allocUnsafe(this.#length)
    unpackDigits(form === 'uuid', this.#bytes, row * width, text, 0, this.#length)
    return text
  }

  between(from: number, count: number, selection: Int32Array | undefined): Texts {
    const isFew = selection !== undefined && selection.length * rowsPerFew < count
    const to = from + count
    if (isFew) return this.#some(from, count, selection)
    if (!this.#validity)
      return { bytes: this.#write(this.#rows(from, to)), offsets: this.#all(count) }
    const rows = newCodes(count)
    let valid = 0
    for (let row = 0; row < count; row++)
      if (isValid(this.#validity, from + row)) rows[valid++] = row
    return this.#some(from, count, rows.subarray(0, valid))
  }

  *parts(): Generator<Texts> {
    for (let from = 0; from < this.count; from += granuleRows) {
      yield this.between(from, Math.min(granuleRows, this.count - from), undefined)
    }
  }

  mayHold(part: string): boolean {
    return this.#shape.form === 'uuid' ? /^[-0-9a-f]*$/i.test(part) : /^[0-9a-f]*$/i.test(part)
  }

  /** The texts of those rows; others, and those of rows without one, are empty. */
  #some(from: number, count: number, selection: Int32Array): Texts {
    const { width } = this.#shape
    const packed = new Uint8Array(selection.length * width)
    // As much for few rows as for all of a batch: V8 collected garbage after every fourth query that made it by itself.
    const offsets = newCodes(count + 1)
    let written = 0
    let next = 0
    for (let i = 0; i < selection.length; i++) {
      const row = selection[i]!
      offsets.fill(written * this.#length, next, row + 1)
      next = row + 1
      if (!isValid(this.#validity, from + row)) continue
      packed.set(this.#rows(from + row, from + row + 1), written * width)
      written++
    }
    offsets.fill(written * this.#length, next)
    return { bytes: this.#write(packed.subarray(0, written * width)), offsets }
  }

  /** Where texts end if each row has one. */
  #all(count: number): Int32Array {
    const known = evenOffsets.get(this.#length)
    if (known && known.length > count) return known.subarray(0, count + 1)
    const size = Math.max(count, granuleRows) + 1
    const offsets = Int32Array.from({ length: size }, (_, i) => i * this.#length)
    if (size === granuleRows + 1) evenOffsets.set(this.#length, offsets)
    return offsets.subarray(0, count + 1)
  }

  #rows(from: number, to: number): Uint8Array {
    const { width } = this.#shape
    return this.#bytes.subarray(from * width, to * width)
  }

  #write(packed: Uint8Array): Buffer {
    const { form, width } = this.#shape
    const texts = newText((packed.length / width) * this.#length)
    if (form === 'uuid') writeUuids(packed, texts)
    else writeDigits(packed, texts)
    return texts
  }
}

/** By the length of texts; those of a granule serve all. */
const evenOffsets = new Map<number, Int32Array>()
