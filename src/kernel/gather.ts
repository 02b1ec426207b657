/**
 * Gathers by code: `out[i]` is the table's value for code `i`. The table's last value is that of null,
 * whose code is -1: adding the table's length to it, and nothing to others, takes no branch.
 */

import {
  beginKernel,
  isNear,
  isOfKernels,
  kernels,
  maximumRows,
  place,
  placeCodeTable,
  placeOutput,
  takeOutput,
} from './arena.ts'

/** Tables up to this size are copied for each batch where they are not at hand. */
const smallTable = 2048

function isAtHand(table: Int32Array): boolean {
  return isOfKernels(table) || table.length <= smallTable
}

export function gatherNumbers(
  table: Float64Array,
  codes: Int32Array,
  count: number,
  out: Float64Array,
): void {
  const size = table.length
  for (let i = 0; i < count; i++) {
    const code = codes[i]!
    out[i] = table[code + (size & (code >> 31))]!
  }
}

export function gatherBytes(
  table: Uint8Array,
  codes: Int32Array,
  count: number,
  out: Uint8Array,
): void {
  const size = table.length
  for (let i = 0; i < count; i++) {
    const code = codes[i]!
    out[i] = table[code + (size & (code >> 31))]!
  }
}

export function gatherCodes(
  table: Int32Array,
  codes: Int32Array,
  count: number,
  out: Int32Array,
): void {
  const size = table.length
  for (let i = 0; i < count; i++) {
    const code = codes[i]!
    out[i] = table[code + (size & (code >> 31))]!
  }
}

/** `out[j] = values[selection[j]]` */
export function pickNumbers(values: Float64Array, selection: Int32Array, out: Float64Array): void {
  const count = selection.length
  if (count <= maximumRows && isOfKernels(out) && isNear(values, count)) {
    beginKernel()
    const [of, picked] = [place(values, values.length), place(selection, count)]
    const at = placeOutput(out, count)
    kernels.pickNumbers(of, picked, count, at)
    takeOutput(out, count, at)
    return
  }
  for (let j = 0; j < selection.length; j++) out[j] = values[selection[j]!]!
}

/** The same for bytes. */
export function pickBytes(values: Uint8Array, selection: Int32Array, out: Uint8Array): void {
  for (let j = 0; j < selection.length; j++) out[j] = values[selection[j]!]!
}

/** The same for codes. */
export function pickCodes(values: Int32Array, selection: Int32Array, out: Int32Array): void {
  const count = selection.length
  if (count <= maximumRows && isOfKernels(out) && isNear(values, count)) {
    beginKernel()
    const [of, picked] = [place(values, values.length), place(selection, count)]
    const at = placeOutput(out, count)
    kernels.pickCodes(of, picked, count, at)
    takeOutput(out, count, at)
    return
  }
  for (let j = 0; j < selection.length; j++) out[j] = values[selection[j]!]!
}

/**
 * Gathers codes of a larger numbering, from -1 on; returns the least that was written, or 0 when none
 * is negative.
 */
export function mapCodes(
  table: Int32Array,
  codes: Int32Array,
  count: number,
  out: Int32Array,
): number {
  const size = table.length
  if (isAtHand(table) && count <= maximumRows) {
    beginKernel()
    const [led, of] = [placeCodeTable(table), place(codes, count)]
    const at = placeOutput(out, count)
    const least = kernels.mapCodes(led, of, count, at)
    takeOutput(out, count, at)
    return least
  }
  let least = 0
  for (let i = 0; i < count; i++) {
    const code = codes[i]!
    const mapped = table[code + (size & (code >> 31))]!
    out[i] = mapped
    least = Math.min(least, mapped)
  }
  return least
}

/** The same for the rows of a selection: `out[j]` belongs to row `selection[j]`. */
export function mapCodesWithin(
  table: Int32Array,
  codes: Int32Array,
  selection: Int32Array,
  out: Int32Array,
): number {
  const size = table.length
  const count = selection.length
  if (isAtHand(table) && count <= maximumRows && isNear(codes, count)) {
    beginKernel()
    const [led, of] = [placeCodeTable(table), place(codes, codes.length)]
    const [within, at] = [place(selection, count), placeOutput(out, count)]
    const least = kernels.mapCodesWithin(led, of, within, count, at)
    takeOutput(out, count, at)
    return least
  }
  let least = 0
  for (let j = 0; j < selection.length; j++) {
    const code = codes[selection[j]!]!
    const mapped = table[code + (size & (code >> 31))]!
    out[j] = mapped
    least = Math.min(least, mapped)
  }
  return least
}

/** `out[i] = map[codes[i]]`, where -1 stays as it is. */
export function leadCodes(
  map: Int32Array,
  codes: Int32Array,
  count: number,
  out: Int32Array,
): void {
  for (let i = 0; i < count; i++) {
    const code = codes[i]!
    out[i] = code < 0 ? -1 : map[code]!
  }
}

/** The same for the rows of a selection: `out[j]` belongs to row `selection[j]`. */
export function leadCodesWithin(
  map: Int32Array,
  codes: Int32Array,
  selection: Int32Array,
  out: Int32Array,
): void {
  for (let j = 0; j < selection.length; j++) {
    const code = codes[selection[j]!]!
    out[j] = code < 0 ? -1 : map[code]!
  }
}

/** Codes from `base` on: 0, or -1 where null is among them. */
export interface BasedCodes {
  readonly codes: Int32Array
  readonly base: 0 | -1
}

/** Numbers pairs of codes in the order of a table with rows of `stride`: from 0 on. */
export function combineCodes(
  left: BasedCodes,
  stride: number,
  right: BasedCodes,
  count: number,
  out: Int32Array,
): void {
  if (count > maximumRows) {
    for (let i = 0; i < count; i++) {
      out[i] = (left.codes[i]! - left.base) * stride + right.codes[i]! - right.base
    }
    return
  }
  beginKernel()
  const [from, to] = [place(left.codes, count), place(right.codes, count)]
  const at = placeOutput(out, count)
  kernels.combineCodes(from, -left.base, stride, to, -right.base, count, at)
  takeOutput(out, count, at)
}
