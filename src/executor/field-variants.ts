/** Divides rows by where a field has its value in each, so that each part can be read in place. */
import { expandBits } from '../kernel/bitmap.ts'
import { newBytes, newCodes } from '../kernel/memory.ts'
import { rowsOf, type Selection, type Vector } from '../vector/vector.ts'
import type { FieldVariant } from './batch.ts'

/** A column, or another place, that has the field in some rows. */
export interface VariantSource {
  /** Bitmaps over the column set of the rows that have it there. */
  readonly bits: readonly (Uint8Array | 'all')[]
  /** The values of a batch, of which only those rows count, and only those that are given. */
  read(rows: Selection): Vector
}

/** Gives the parts of a selection that have rows; together they are all of it. */
export type SplitVariants = (selection: Selection) => readonly FieldVariant[]

/**
 * Rows that no source has hold null.
 *
 * @param sources where two have a row, the later one counts
 */
export function splitVariants(
  sources: readonly VariantSource[],
  from: number,
  count: number,
): SplitVariants {
  let places: Uint8Array | undefined
  const vectors: Vector[] = [{ kind: 'constant', value: null }]
  return (selection) => {
    places ??= placesOf(sources, from, count)
    const parts = divide(places, sources.length + 1, rowsOf(selection, count))
    return parts.map(({ place, rows }) => {
      vectors[place] ??= sources[place - 1]!.read(rows)
      return { rows: parts.length === 1 ? selection : rows, vector: vectors[place] }
    })
  }
}

/** By row: one more than the number of its source, or 0. */
function placesOf(sources: readonly VariantSource[], from: number, count: number): Uint8Array {
  const places = newBytes(count).fill(0)
  const has = newBytes(count)
  for (const [i, { bits }] of sources.entries()) {
    const place = i + 1
    for (const bitmap of bits) {
      if (bitmap === 'all') {
        places.fill(place)
        continue
      }
      expandBits(bitmap, from, count, has)
      for (let row = 0; row < count; row++) if (has[row] === 1) places[row] = place
    }
  }
  return places
}

/** The rows of each place that has some. */
function divide(
  places: Uint8Array,
  placeCount: number,
  rows: Int32Array,
): { readonly place: number; readonly rows: Int32Array }[] {
  const counts = new Int32Array(placeCount)
  for (let i = 0; i < rows.length; i++) counts[places[rows[i]!]!]!++
  const begins = new Int32Array(placeCount)
  for (let place = 1; place < placeCount; place++) {
    begins[place] = begins[place - 1]! + counts[place - 1]!
  }
  const next = begins.slice()
  const divided = newCodes(rows.length)
  for (let i = 0; i < rows.length; i++) divided[next[places[rows[i]!]!]!++] = rows[i]!
  return Array.from(counts, (_, place) => ({
    place,
    rows: divided.subarray(begins[place]!, next[place]!),
  })).filter(({ rows }) => rows.length > 0)
}
