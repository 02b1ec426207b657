/** Divides rows by where a field has its value in each, so that each part can be read in place. */
import { anyBit, expandBits } from '../kernel/bitmap.ts'
import { newBytes, newCodes } from '../kernel/memory.ts'
import { rowsOf, type Selection, type Vector } from '../vector/vector.ts'
import type { FieldVariant } from './batch.ts'

/** A column, or another place, that has the field in some rows. */
export interface VariantSource {
  /** Bitmaps over the column set of the rows that have it there. */
  readonly bits: readonly (Uint8Array | 'all')[]
  /** Of a place without bitmaps: which of the rows of a batch are to be looked at. */
  among?(rows: Int32Array): Int32Array
  /** The values of a batch, of which only those rows count, and only those that are given. */
  read(rows: Selection): Vector
}

/** Gives the parts of a selection that have rows. In all other rows the field is null. */
export type SplitVariants = (selection: Selection) => readonly FieldVariant[]

/** @param sources where two have a row, the first one counts */
export function splitVariants(
  sources: readonly VariantSource[],
  from: number,
  count: number,
): SplitVariants {
  let places: Uint8Array | undefined
  const vectors: Vector[] = []
  return (selection) => {
    places ??= placesOf(sources, from, count)
    const rows = rowsOf(selection, count)
    return divide(places, sources.length, rows).map(({ source, rows: own }) => {
      const isAll = own.length === rows.length
      vectors[source] ??= sources[source]!.read(isAll ? selection : own)
      return { rows: isAll ? selection : own, vector: vectors[source] }
    })
  }
}

/** By row: one more than the number of its source, or 0. */
function placesOf(sources: readonly VariantSource[], from: number, count: number): Uint8Array {
  const places = newBytes(count).fill(0)
  const has = newBytes(count)
  for (const [i, { bits, among }] of sources.entries()) {
    for (const bitmap of bits) {
      if (bitmap === 'all') has.fill(1)
      else if (anyBit(bitmap, from, count)) expandBits(bitmap, from, count, has)
      else continue
      for (let row = 0; row < count; row++) {
        if (has[row] === 1 && places[row] === 0) places[row] = i + 1
      }
    }
    if (!among) continue
    const free = newCodes(count)
    let freeCount = 0
    for (let row = 0; row < count; row++) {
      free[freeCount] = row
      freeCount += +(places[row] === 0)
    }
    for (const row of among(free.subarray(0, freeCount))) places[row] = i + 1
  }
  return places
}

/** The rows of each source that has some. */
function divide(
  places: Uint8Array,
  sourceCount: number,
  rows: Int32Array,
): { readonly source: number; readonly rows: Int32Array }[] {
  const held = newCodes(rows.length)
  const counts = new Int32Array(sourceCount + 1)
  let heldCount = 0
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!
    const place = places[row]!
    if (place === 0) continue
    held[heldCount++] = row
    counts[place] = counts[place]! + 1
  }
  const divided: { source: number; rows: Int32Array }[] = []
  for (let place = 1; place <= sourceCount; place++) {
    const size = counts[place]!
    if (size === 0) continue
    const own = size === heldCount ? held.subarray(0, size) : newCodes(size)
    if (size < heldCount) {
      let next = 0
      for (let i = 0; i < heldCount; i++) {
        if (places[held[i]!] === place) own[next++] = held[i]!
      }
    }
    divided.push({ source: place - 1, rows: own })
  }
  return divided
}
