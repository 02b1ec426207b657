/** Brings the rows of vectors into other places. */
import { pickBytes, pickCodes, pickNumbers } from '../../kernel/gather.ts'
import {
  rowsOf,
  type Selection,
  type TextVector,
  textEntries,
  unknown,
  type Vector,
} from '../../vector/vector.ts'
import { checkAtTimes } from '../thread/cancelled.ts'

/** Any vector but texts, whose places are those of their bytes. */
export type GatherableVector = Exclude<Vector, TextVector>

/** The vector whose row `i` is row `rows[i]` of another one. */
export function gatherVector(vector: GatherableVector, rows: Int32Array): GatherableVector {
  switch (vector.kind) {
    case 'constant':
      return vector
    case 'number':
    case 'timestamp': {
      const values = new Float64Array(rows.length)
      pickNumbers(vector.values, rows, values)
      return { kind: vector.kind, values }
    }
    case 'boolean': {
      const values = new Uint8Array(rows.length)
      pickBytes(vector.values, rows, values)
      return { kind: 'boolean', values }
    }
    case 'dictionary': {
      const codes = new Int32Array(rows.length)
      pickCodes(vector.codes, rows, codes)
      return { kind: 'dictionary', codes, entries: vector.entries }
    }
    case 'values':
      return { kind: 'values', values: Array.from(rows, (row) => vector.values[row]!) }
    case 'lazy':
      return { kind: 'values', values: Array.from(rows, (row) => vector.valueAt(row)) }
  }
}

/** A vector that can be gathered: texts become entries of a dictionary, where they are. */
export function gatherable(vector: Vector, rowCount: number): GatherableVector {
  if (vector.kind !== 'text') return vector
  const { texts, first, valid } = vector
  const offsets = texts.offsets.subarray(first, first + rowCount + 1)
  const codes = Int32Array.from({ length: rowCount }, (_, row) => (valid?.[row] === 0 ? -1 : row))
  return { kind: 'dictionary', codes, entries: textEntries({ ...texts, offsets }, 'text') }
}

/** The codes of these places, in their order. */
export function pickedCodes(codes: Int32Array, places: Int32Array): Int32Array {
  const picked = new Int32Array(places.length)
  pickCodes(codes, places, picked)
  return picked
}

/** Writes the values of these places, in their order. */
export function picked<T, Out extends { [place: number]: T }>(
  column: ArrayLike<T>,
  order: readonly number[],
  out: Out,
): Out {
  for (let i = 0; i < order.length; i++) {
    checkAtTimes()
    out[i] = column[order[i]!]! as Out[number]
  }
  return out
}

/** The selected rows in which the vector is not null. */
export function presentRows(vector: Vector, rowCount: number, selection: Selection): Int32Array {
  const rows = rowsOf(selection, rowCount)
  const out = new Int32Array(rows.length)
  return out.subarray(0, writePresent(vector, rows, out))
}

function writePresent(vector: Vector, rows: Int32Array, out: Int32Array): number {
  let count = 0
  switch (vector.kind) {
    case 'constant':
      if (vector.value === null) return 0
      out.set(rows)
      return rows.length
    case 'number':
    case 'timestamp': {
      const { values } = vector
      for (const row of rows) {
        out[count] = row
        count += +!Number.isNaN(values[row]!)
      }
      return count
    }
    case 'boolean': {
      const { values } = vector
      for (const row of rows) {
        out[count] = row
        count += +(values[row] !== unknown)
      }
      return count
    }
    case 'dictionary': {
      const { codes } = vector
      for (const row of rows) {
        out[count] = row
        count += +(codes[row]! >= 0)
      }
      return count
    }
    case 'text': {
      const { valid } = vector
      if (!valid) {
        out.set(rows)
        return rows.length
      }
      for (const row of rows) {
        out[count] = row
        count += valid[row]!
      }
      return count
    }
    case 'values': {
      const { values } = vector
      for (const row of rows) {
        out[count] = row
        count += +(values[row] !== null)
      }
      return count
    }
    case 'lazy': {
      for (const row of rows) {
        out[count] = row
        count += +(vector.valueAt(row) !== null)
      }
      return count
    }
  }
}
