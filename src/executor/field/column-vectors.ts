/** Rows of a column as vectors, or as they are stored; and as one of the places that a field has. */

import { newBytes, newCodes, newNumbers } from '../../kernel/arena.ts'
import { expandBits } from '../../kernel/bitmap.ts'
import { pickCodes, pickNumbers } from '../../kernel/gather.ts'
import type { BooleanColumn, NumberColumn } from '../../vector/column.ts'
import type { Codes } from '../../vector/elements.ts'
import {
  type DictionaryEntries,
  type DictionaryVector,
  type NumberVector,
  unknown,
  type Vector,
} from '../../vector/vector.ts'
import type { Encoding } from '../expression/batch.ts'
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

/** Written out, as to copy an object with `...` takes some microseconds. */
export function encodedNumbers(
  kind: 'number' | 'timestamp',
  column: NumberColumn,
  from: number,
  count: number,
): Encoding {
  const { stored } = column.values
  if (!stored) return { kind: 'flat', vector: numberVector(kind, column, from, count) }
  const { base, divisor } = stored
  const integers = stored.integers.subarray(from, from + count)
  return { kind: 'narrow', stored: { kind, integers, base, divisor } }
}

export function encodedCodes(
  codes: Codes,
  entries: DictionaryEntries,
  from: number,
  count: number,
): Encoding {
  const { stored } = codes
  if (!stored) return { kind: 'flat', vector: codeVector(codes, entries, from, count) }
  const { base, divisor } = stored
  const integers = stored.integers.subarray(from, from + count)
  return { kind: 'narrow', stored: { kind: 'dictionary', integers, base, divisor, entries } }
}

export function codeVector(
  codes: Codes,
  entries: DictionaryEntries,
  from: number,
  count: number,
): DictionaryVector {
  return { kind: 'dictionary', codes: codes.between(from, count), entries }
}

export function numberSource(
  kind: 'number' | 'timestamp',
  column: NumberColumn,
  from: number,
  count: number,
): ColumnSource {
  return {
    kind,
    encoding: encodedNumbers(kind, column, from, count),
    read: () => numberVector(kind, column, from, count),
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
  return {
    kind,
    entries,
    encoding: encodedCodes(codes, entries, from, count),
    read: () => codeVector(codes, entries, from, count),
    pack: (rows) => {
      const packed = newCodes(rows.length)
      pickCodes(codes.between(from, count), rows, packed)
      return { kind: 'dictionary', codes: packed, entries }
    },
  }
}
