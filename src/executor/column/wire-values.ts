/** Values on their way between threads: texts as bytes, which are neither decoded nor copied. */
import { fromPlain, type PlainValue, toPlain } from '../../type/plain.ts'
import type { Value } from '../../type/value.ts'
import type { Texts } from '../../vector/column.ts'
import {
  type DictionaryVector,
  type NumberVector,
  type TextVector,
  textEntries,
  type ValuesVector,
  valueEntries,
  valueReader,
} from '../../vector/vector.ts'
import { checkAtTimes, inCheckedChunks } from '../thread/cancelled.ts'
import { type NumberObjects, objectAt } from './number-objects.ts'
import { type PackedValues, unpackValues } from './packed-values.ts'

export type WireValues =
  | {
      readonly kind: 'texts'
      readonly bytes: Uint8Array
      readonly offsets: Int32Array
      /** 0 where the value is null. */
      readonly valid: Uint8Array
    }
  /** Doubles, or ms since 1970 UTC; NaN is null. */
  | { readonly kind: 'number' | 'timestamp'; readonly values: Float64Array }
  /** Codes of values that repeat; -1 is null. */
  | { readonly kind: 'coded'; readonly codes: Int32Array; readonly values: DistinctValues }
  | NumberObjects
  | ValueLists
  | OtherValues

/**
 * Lists, whose members are one column: a list of a hundred thousand texts is as many things for V8 to make and to go
 * through, and a message makes each of them anew.
 */
export interface ValueLists {
  readonly kind: 'lists'
  /** Those of row `i` are `starts[i] … ends[i]`; a start of -1 is null. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly members: WireValues
}

/** Values of any kind: as they are, or, if they are many and came from another thread, as bytes. */
export type OtherValues = PlainValues | PackedValues

export interface PlainValues {
  readonly kind: 'plain'
  readonly values: readonly PlainValue[]
}

/** No value is null. */
export type DistinctValues = TextValues | OtherValues

export function plainValues(values: readonly Value[]): PlainValues {
  const plain = values.map((value) => {
    checkAtTimes()
    return toPlain(value)
  })
  return { kind: 'plain', values: plain }
}

/** Stands for null among `SharedValues.codes`. */
export const sharedNull = -1

/**
 * Keys of groups, most of them texts of a shared dictionary: their codes there; `sharedNull`; and
 * below that, counting down, the places of other values.
 */
export interface SharedValues {
  readonly kind: 'shared'
  /** Its id. */
  readonly dictionary: number
  readonly codes: Int32Array
  readonly others: WireValues
}

export type KeyValues = WireValues | SharedValues

export type TextValues = Extract<WireValues, { readonly kind: 'texts' }>

/** Text `places[i]` of `sources[which[i]]`, the i-th; a place of -1 is null. */
export function concatenateTexts(
  sources: readonly Texts[],
  which: Uint8Array | Int32Array,
  places: Int32Array,
): TextValues {
  const offsets = new Int32Array(places.length + 1)
  const valid = new Uint8Array(places.length)
  let total = 0
  inCheckedChunks(places.length, (first, last) => {
    for (let i = first; i < last; i++) {
      const place = places[i]!
      if (place >= 0) {
        const source = sources[which[i]!]!
        valid[i] = 1
        total += source.offsets[place + 1]! - source.offsets[place]!
      }
      offsets[i + 1] = total
    }
  })
  const bytes = new Uint8Array(total)
  for (let i = 0; i < places.length; i++) {
    checkAtTimes()
    const place = places[i]!
    if (place < 0) continue
    const { bytes: from, offsets: starts } = sources[which[i]!]!
    const end = starts[place + 1]!
    let at = offsets[i]!
    // A loop beats the view that `set` would need: texts are short.
    for (let k = starts[place]!; k < end; k++) bytes[at++] = from[k]!
  }
  return { kind: 'texts', bytes, offsets, valid }
}

/** The values as a vector with one row each. */
export function vectorOf(wire: WireValues): ColumnVector {
  switch (wire.kind) {
    case 'plain':
    case 'packed':
      return { kind: 'values', values: valuesOf(wire) }
    case 'objects':
      return { kind: 'values', values: objectsOf(wire) }
    case 'lists': {
      const listAt = listReader(wire)
      return { kind: 'values', values: Array.from(wire.starts, (_, row) => listAt(row)) }
    }
    case 'texts':
      return { kind: 'text', texts: textsOf(wire), first: 0, valid: wire.valid }
    case 'coded': {
      const { codes, values } = wire
      const entries =
        values.kind === 'texts'
          ? textEntries(textsOf(values), 'text')
          : valueEntries(valuesOf(values))
      return { kind: 'dictionary', codes, entries }
    }
    default:
      return wire
  }
}

function valuesOf(wire: OtherValues): Value[] {
  const values = wire.kind === 'packed' ? unpackValues(wire) : wire.values
  return values.map((value) => {
    checkAtTimes()
    return fromPlain(value)
  })
}

/** Gives the list of a row, made anew; its members are made once. */
export function listReader({ starts, ends, members }: ValueLists): (row: number) => Value {
  const memberAt = valueReader(vectorOf(members))
  return (row) => {
    const start = starts[row]!
    if (start < 0) return null
    const list: Value[] = []
    for (let member = start; member < ends[row]!; member++) {
      checkAtTimes()
      list.push(memberAt(member))
    }
    return list
  }
}

function objectsOf(objects: NumberObjects): Value[] {
  return Array.from(objects.valid, (_, row) => {
    checkAtTimes()
    return objectAt(objects, row)
  })
}

/** What columns of rows in memory are as vectors. */
export type ColumnVector = NumberVector | DictionaryVector | TextVector | ValuesVector

/** In place. */
export function textsOf({ bytes, offsets }: Pick<TextValues, 'bytes' | 'offsets'>): Texts {
  // Between threads a Buffer becomes a plain Uint8Array.
  return { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), offsets }
}

export function countOf(wire: WireValues): number {
  if (wire.kind === 'texts' || wire.kind === 'objects') return wire.valid.length
  if (wire.kind === 'packed') return wire.to - wire.from
  if (wire.kind === 'lists') return wire.starts.length
  return wire.kind === 'coded' ? wire.codes.length : wire.values.length
}
