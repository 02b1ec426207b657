/**
 * Masks of the rows of a batch: a byte per row, 1 where it is kept, else 0. Conditions that are made as
 * masks cost the same however many rows pass, and are put together sixteen rows at a time.
 */

import { beginKernel, kernels, place, placeOutput, placeTable, takeOutput } from './arena.ts'
import type { NumberRange } from './compare.ts'

/** In all of these, `count` is at most `maximumRows`. */

export function maskBetween(
  values: Float64Array,
  { low, high }: NumberRange,
  count: number,
  out: Uint8Array,
): void {
  beginKernel()
  const at = placeOutput(out, count)
  kernels.maskBetween(place(values, count), low, high, count, at)
  takeOutput(out, count, at)
}

/** Null is no other value. */
export function maskOther(
  values: Float64Array,
  than: number,
  count: number,
  out: Uint8Array,
): void {
  beginKernel()
  const at = placeOutput(out, count)
  kernels.maskOther(place(values, count), than, count, at)
  takeOutput(out, count, at)
}

/** The rows of one code. */
export function maskCode(code: number, codes: Int32Array, count: number, out: Uint8Array): void {
  beginKernel()
  const at = placeOutput(out, count)
  kernels.maskCode(code, place(codes, count), count, at)
  takeOutput(out, count, at)
}

/** Tables up to this size are copied for each batch. */
export const smallTable = 4096

/** The rows whose code is true (1) in the table, whose last entry is that of null. */
export function maskByCode(
  table: Uint8Array,
  codes: Int32Array,
  count: number,
  out: Uint8Array,
): void {
  const size = table.length
  if (size > smallTable) {
    for (let row = 0; row < count; row++) {
      const code = codes[row]!
      out[row] = table[code + (size & (code >> 31))]! & 1
    }
    return
  }
  beginKernel()
  const at = placeOutput(out, count)
  kernels.maskByCode(placeTable(table), place(codes, count), count, at)
  takeOutput(out, count, at)
}

/** Keeps in `mask` what both keep. */
export function keepBoth(mask: Uint8Array, other: Uint8Array, count: number): void {
  beginKernel()
  const at = place(mask, count)
  kernels.keepBoth(at, place(other, count), count)
  takeOutput(mask, count, at)
}

/** Keeps in `mask` what either keeps. */
export function keepEither(mask: Uint8Array, other: Uint8Array, count: number): void {
  beginKernel()
  const at = place(mask, count)
  kernels.keepEither(at, place(other, count), count)
  takeOutput(mask, count, at)
}

/** Keeps what the mask did not. */
export function keepOthers(mask: Uint8Array, count: number): void {
  beginKernel()
  const at = place(mask, count)
  kernels.keepOthers(at, count)
  takeOutput(mask, count, at)
}

export function countKept(mask: Uint8Array, count: number): number {
  beginKernel()
  return kernels.countKept(place(mask, count), count)
}
