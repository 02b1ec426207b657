/** Rows of a column as vectors, or as they are stored; and as one of the places that a field has. */
import { expandBits } from '../../kernel/bitmap.ts'
import { pickCodes, pickNumbers } from '../../kernel/gather.ts'
import { newBytes, newCodes, newNumbers } from '../../kernel/memory.ts'
import type { BooleanColumn, NumberColumn } from '../../vector/column.ts'
import type { Codes } from '../../vector/elements.ts'
import {
  type DictionaryEntries,
  type DictionaryVector,
  type NumberVector,
  unknown,
  type Vector,
} from '../../vector/vector.ts'
import type { StoredField } from '../expression/batch.ts'
import type { VariantSource } from './field-variants.ts'

/** What of a source follows from its column; its rows do not. */
export type ColumnSource = Omit<VariantSource, 'bits' | 'among'>

export function numberVector(
  kind: 'number' | 'timestamp',
  column: NumberColumn,
  from: number,
  count: number,
): NumberVector {
  return { kind, values: column.values.between(from, count) }
}

export function booleanVector(column: BooleanColumn, from: number, count: number): Vector {
  const values = newBytes(count)
  expandBits(column.bits, from, count, values)
  if (column.validity) {
    const valid = newBytes(count)
    expandBits(column.validity, from, count, valid)
    for (let i = 0; i < count; i++) {
      const isValid = valid[i]!
      values[i] = (values[i]! & isValid) | ((isValid ^ 1) * unknown)
    }
  }
  return { kind: 'boolean', values }
}

/**
 * Undefined where they are stored as vectors have them. Written out, as to copy an object with `...` takes
 * some microseconds.
 */
export function storedNumbers(
  kind: 'number' | 'timestamp',
  { values: { stored } }: NumberColumn,
  from: number,
  count: number,
): StoredField | undefined {
  if (!stored) return undefined
  const { integers, base, divisor } = stored
  return { kind, integers: integers.subarray(from, from + count), base, divisor }
}

export function storedCodes(
  { stored }: Codes,
  from: number,
  count: number,
  entries: DictionaryEntries,
): StoredField | undefined {
  if (!stored) return undefined
  const { integers, base, divisor } = stored
  const ofRows = integers.subarray(from, from + count)
  return { kind: 'dictionary', integers: ofRows, base, divisor, entries }
}

export function numberSource(
  kind: 'number' | 'timestamp',
  column: NumberColumn,
  from: number,
  count: number,
): ColumnSource {
  const vector = () => numberVector(kind, column, from, count)
  return {
    kind,
    inPlace: { stored: () => storedNumbers(kind, column, from, count), vector },
    read: vector,
    pack: (rows) => {
      const values = newNumbers(rows.length)
      pickNumbers(column.values.between(from, count), rows, values)
      return { kind, values }
    },
  }
}

/** @param kind of the values that the codes stand for */
export function codeSource(
  kind: 'text' | 'json',
  codes: Codes,
  from: number,
  count: number,
  entries: DictionaryEntries,
): ColumnSource {
  const vector = (): DictionaryVector => {
    return { kind: 'dictionary', codes: codes.between(from, count), entries }
  }
  return {
    kind,
    entries,
    inPlace: { stored: () => storedCodes(codes, from, count, entries), vector },
    read: vector,
    pack: (rows) => {
      const packed = newCodes(rows.length)
      pickCodes(codes.between(from, count), rows, packed)
      return { kind: 'dictionary', codes: packed, entries }
    },
  }
}
