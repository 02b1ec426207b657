import { newBytes } from '../../kernel/arena.ts'
import { absentNumbers } from '../../kernel/compare.ts'
import type { Path, Value } from '../../type/value.ts'
import type { ColumnSet } from '../../vector/column.ts'
import type { StoredIntegers } from '../../vector/elements.ts'
import type { SharedCodes } from '../../vector/shared-dictionary.ts'
import {
  type DictionaryEntries,
  type DictionaryVector,
  type NumberVector,
  rowsOf,
  type Selection,
  unknown,
  type Vector,
  valueReader,
} from '../../vector/vector.ts'
import type { RowList } from '../column/row-list.ts'

/** Rows that are evaluated together, at most `granuleRows` of them; in a scan, all of one object. */
export interface Batch {
  readonly rowCount: number
  /** By row, how many rows it stands for; absent: each for itself. */
  readonly weights?: Float64Array | undefined
  /** The stored row that each row is, or is made of; absent when there is none. */
  readonly keys?: RowList | undefined
  /** The same each time that a path is asked for. */
  field(path: Path): Field
}

/** A field of a batch's rows. What is told of it tells how to read it best, and reads nothing. */
export abstract class Field {
  /** How its values are encoded. */
  get encoding(): Encoding {
    return unread
  }

  /** Where it is not null, if bitmaps of columns tell all of it. Cheaper than `nulls`. */
  get presence(): Presence | undefined {
    return undefined
  }

  /** The same values as codes that other tasks know, if they are texts and have such. */
  get shared(): SharedCodes | undefined {
    return undefined
  }

  /**
   * What its objects hold, in the order of the members' names: a member is null in rows without it. Undefined
   * when that is only known value by value.
   */
  get members(): readonly ObjectMember[] | undefined {
    return undefined
  }

  /** Which rows of a column set these are, where that has the field. */
  get source(): FieldSource | undefined {
    return undefined
  }

  /** The values of the selected rows; others may hold anything. What is read first is kept, and serves all later calls. */
  abstract read(selection: Selection): Vector

  /** One byte per row: 1 where it is null. Cheaper than the values. */
  nulls(rowCount: number, selection: Selection): Uint8Array {
    return nullBytes(this.read(selection), rowCount, selection)
  }
}

/** A field that is read at once, or of which nothing is known before it is. */
export class VectorField extends Field {
  readonly #read: (selection: Selection) => Vector

  constructor(vector: Vector | ((selection: Selection) => Vector)) {
    super()
    this.#read = typeof vector === 'function' ? vector : () => vector
  }

  read(selection: Selection): Vector {
    return this.#read(selection)
  }
}

/** Rows of which every field is this vector: for expressions of one field. */
export function batchOf(vector: Vector, rowCount: number): Batch {
  const field = new VectorField(vector)
  return { rowCount, field: () => field }
}

/** How the values of all rows of a batch are encoded, as far as that is known unread. */
export type Encoding =
  /** In one place, where only reading tells more. */
  | { readonly kind: 'unread' }
  /** The same in all rows; where the field is absent, null. */
  | { readonly kind: 'constant'; readonly value: Value }
  /** Numbers, times or codes as vectors have them. */
  | { readonly kind: 'flat'; readonly vector: NumberVector | DictionaryVector }
  /** The same in fewer bytes than vectors have. */
  | { readonly kind: 'narrow'; readonly stored: StoredField }
  /** In several places, or of several types: no two parts have a row in common, and in all other rows it is null. */
  | { readonly kind: 'mixed'; readonly parts: readonly FieldPart[] }

export const unread: Encoding = { kind: 'unread' }

/** Numbers, times in milliseconds, or codes of entries: one for each row of the batch. */
export type StoredField = StoredIntegers &
  (
    | { readonly kind: 'number' | 'timestamp' }
    | { readonly kind: 'dictionary'; readonly entries: DictionaryEntries }
  )

/** Rows that are in one of several bitmaps, of which row 0 of the batch is row `first`. */
export interface Presence {
  readonly bitmaps: readonly Uint8Array[]
  readonly first: number
}

export interface FieldSource {
  readonly set: ColumnSet
  /** The set's row that is row 0. */
  readonly first: number
  /** The same field, read by itself: what is read of it serves no others. */
  apart(): Field
}

/** What values of a part are: those of a column of that type, or of whatever kind in other places. */
export type PartKind =
  | 'number'
  | 'timestamp'
  | 'boolean'
  | 'text'
  | 'json'
  /** Objects whose members are in columns. */
  | 'object'
  | 'elsewhere'

/** Rows of a batch that have a field in one place. Nothing of them is read before it is asked for. */
export interface FieldPart {
  readonly kind: PartKind
  /** How its column has them. */
  readonly encoding: Encoding
  /** The distinct values, where rows have codes of them. */
  readonly entries: DictionaryEntries | undefined
  /** Which of the selected rows they are. Of `elsewhere` some may have null. */
  rowsIn(selection: Selection): Int32Array
  /** Their values; what is read first serves all later calls, which must be for some of its rows. */
  read(rows: Int32Array): FieldVariant
}

export interface FieldVariant {
  readonly rows: Selection
  /** Row by row of the batch; or, where it is packed, of the variant's rows alone. */
  readonly vector: Vector
  readonly isPacked: boolean
}

export interface ObjectMember {
  readonly name: string
  readonly field: Field
}

/** A field in the selected rows, part by part. In all other rows it is null. */
export function variantsOf(field: Field, selection: Selection): readonly FieldVariant[] {
  const { encoding } = field
  if (encoding.kind === 'mixed') return variantsIn(encoding.parts, selection)
  return [{ rows: selection, vector: field.read(selection), isPacked: false }]
}

/** The parts that have selected rows. */
export function variantsIn(
  parts: readonly FieldPart[],
  selection: Selection,
): readonly FieldVariant[] {
  const variants: FieldVariant[] = []
  for (const part of parts) {
    const rows = part.rowsIn(selection)
    if (rows.length > 0) variants.push(part.read(rows))
  }
  return variants
}

/** Whether columns tell that it is an object or null in each row. */
export function hasOnlyObjects({ encoding }: Field): boolean {
  if (encoding.kind === 'constant') return encoding.value === null
  return encoding.kind === 'mixed' && encoding.parts.every(({ kind }) => kind === 'object')
}

/** 1 where a vector is null in the selected rows. */
export function nullBytes(vector: Vector, rowCount: number, selection: Selection): Uint8Array {
  const nulls = newBytes(rowCount)
  switch (vector.kind) {
    case 'constant':
      return nulls.fill(vector.value === null ? 1 : 0)
    case 'number':
    case 'timestamp':
      absentNumbers(vector.values, rowCount, nulls)
      return nulls
    case 'dictionary': {
      const { codes } = vector
      // The sign of a code is that of -1.
      for (let row = 0; row < rowCount; row++) nulls[row] = codes[row]! >>> 31
      return nulls
    }
    case 'boolean': {
      const { values } = vector
      for (let row = 0; row < rowCount; row++) nulls[row] = +(values[row] === unknown)
      return nulls
    }
    case 'text': {
      const { valid } = vector
      if (!valid) return nulls.fill(0)
      for (let row = 0; row < rowCount; row++) nulls[row] = valid[row]! ^ 1
      return nulls
    }
    default: {
      nulls.fill(0)
      const read = valueReader(vector)
      for (const row of rowsOf(selection, rowCount)) nulls[row] = +(read(row) === null)
      return nulls
    }
  }
}
