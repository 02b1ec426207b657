/**
 * Columns of narrow whole numbers, which kernels take as 32-bit codes and as doubles. They are widened a
 * batch at a time, which costs less than it takes to read the wide ones from main memory; whoever asks
 * for the same rows in the same batch gets the same array.
 */
import type { Codes, Elements, Numbers, StoredIntegers } from '../vector/elements.ts'
import {
  batchNumber,
  beginKernel,
  inChunks,
  kernels,
  maximumRows,
  newCodes,
  newNumbers,
  noBatch,
  place,
  placeOutput,
  placeStored,
  stageStored,
  takeOutput,
} from './arena.ts'
import { reciprocalOf } from './reciprocal.ts'

export type NarrowNumbers = Int8Array | Int16Array | Int32Array

/** What stands for a row that is not valid: the least number of its width. */
export function noNumberOf(narrow: NarrowNumbers): number {
  return -(2 ** (narrow.BYTES_PER_ELEMENT * 8 - 1))
}

export function widthOf(narrow: NarrowNumbers): 1 | 2 | 4 {
  return narrow.BYTES_PER_ELEMENT as 1 | 2 | 4
}

/** Where a kernel finds whole numbers as they are stored. */
export function placeIntegers({ buffer, byteOffset, byteLength }: NarrowNumbers): number {
  return placeStored(buffer, byteOffset, byteLength)
}

/**
 * Rows that one kernel takes of many that are copied to the same place: bytes that stay in the first cache beside those that
 * are read. A count of 5 M rows of two bytes takes 0.87 ms by 3,584 bytes, 1.1 by 8,192 and 1.4 by 2,048; a sum 2.2, 2.7
 * and 2.8.
 */
export function stagedRows(narrow: NarrowNumbers): number {
  return stagedBytesAtOnce / narrow.BYTES_PER_ELEMENT
}

const stagedBytesAtOnce = 3584

/** Where one kernel finds some of them. */
export function stageIntegers(
  { buffer, byteOffset, BYTES_PER_ELEMENT: width }: NarrowNumbers,
  from: number,
  to: number,
): number {
  return stageStored(buffer, byteOffset + from * width, (to - from) * width)
}

/** Codes of one byte or two; -1 is null in them, too. */
export function narrowCodes(narrow: Int8Array | Int16Array): Codes {
  const widen = narrow.BYTES_PER_ELEMENT === 1 ? kernels.widenCodes8 : kernels.widenCodes16
  const stored = { integers: narrow, base: 0, divisor: 1 }
  return new NarrowElements<Int32Array>(stored, newCodes, widen, undefined)
}

/** How whole numbers stand for others: each for `(integer + base) / divisor`. */
export interface NumberScale {
  readonly base: number
  readonly divisor: number
}

/** Numbers of which each row has a whole one, `noNumberOf` for null. */
export function narrowNumbers(narrow: NarrowNumbers, scale: NumberScale): Numbers {
  const none = noNumberOf(narrow)
  const { base, divisor } = scale
  const numberAt = (row: number): number => {
    const integer = narrow[row]!
    return integer === none ? Number.NaN : (integer + base) / divisor
  }
  const widen = wideners[widthOf(narrow)]
  const isPlain = base === 0 && divisor === 1
  const reciprocal = reciprocalOf(divisor, Math.ceil(Math.log2(Math.abs(base) - none)))
  return new NarrowElements<Float64Array>(
    { integers: narrow, base, divisor },
    newNumbers,
    isPlain
      ? widen
      : (source, count, out) => {
          widen(source, count, out)
          if (!reciprocal) kernels.scaleNumbers(out, count, base, divisor)
          else kernels.scaleByReciprocal(out, count, base, reciprocal.high, reciprocal.low)
        },
    numberAt,
  )
}

type Widen = (source: number, count: number, out: number) => void

const wideners: Readonly<Record<1 | 2 | 4, Widen>> = {
  1: kernels.widenNumbers8,
  2: kernels.widenNumbers16,
  4: kernels.widenNumbers32,
}

class NarrowElements<Wide extends Int32Array | Float64Array> implements Elements<Wide> {
  readonly stored: StoredIntegers
  readonly #narrow: NarrowNumbers
  readonly #bytes: Uint8Array
  readonly #make: (count: number) => Wide
  readonly #widen: Widen
  readonly #elementAt: ((row: number) => number) | undefined
  /** What was widened last, and the batch that it was for. */
  #last: Wide | undefined
  #lastBatch = noBatch
  #lastFrom = 0

  constructor(
    stored: StoredIntegers,
    make: (count: number) => Wide,
    widen: Widen,
    elementAt: ((row: number) => number) | undefined,
  ) {
    const narrow = stored.integers
    this.stored = stored
    this.#narrow = narrow
    this.#bytes = new Uint8Array(narrow.buffer, narrow.byteOffset, narrow.byteLength)
    this.#make = make
    this.#widen = widen
    this.#elementAt = elementAt
  }

  at(row: number): number {
    return this.#elementAt ? this.#elementAt(row) : this.#narrow[row]!
  }

  between(from: number, count: number): Wide {
    const batch = batchNumber()
    const last = this.#last
    const isSame = batch !== noBatch && batch === this.#lastBatch && from === this.#lastFrom
    if (last && isSame && last.length === count) return last
    const wide = this.#make(count)
    if (count <= maximumRows) this.#widenInto(from, count, wide)
    else {
      inChunks(count, (start, end) => {
        this.#widenInto(from + start, end - start, wide.subarray(start, end) as Wide)
      })
    }
    if (batch !== noBatch) {
      this.#last = wide
      this.#lastBatch = batch
      this.#lastFrom = from
    }
    return wide
  }

  #widenInto(from: number, count: number, out: Wide): void {
    const width = this.#narrow.BYTES_PER_ELEMENT
    beginKernel()
    const source = place(this.#bytes.subarray(from * width, (from + count) * width), count * width)
    const at = placeOutput(out, count)
    this.#widen(source, count, at)
    takeOutput(out, count, at)
  }
}
