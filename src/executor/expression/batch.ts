import type { Path } from '../../type/value.ts'
import type { StoredIntegers } from '../../vector/elements.ts'
import type { SharedCodes } from '../../vector/shared-dictionary.ts'
import type {
  DictionaryEntries,
  DictionaryVector,
  NumberVector,
  Selection,
  Vector,
} from '../../vector/vector.ts'
import type { RowList } from '../order/row-list.ts'
import type { SoughtPhrases } from '../text/text-candidates.ts'

/** Rows that are evaluated together, at most `granuleRows` of them; in a scan, all of one object. */
export interface Batch {
  readonly rowCount: number
  /** By row, how many rows it stands for; absent: each for itself. */
  readonly weights?: Float64Array | undefined
  /** The stored row that each row is, or is made of; absent when there is none. */
  readonly keys?: RowList | undefined
  /** The field's value in the selected rows. */
  field(path: Path, selection: Selection): Vector
  /**
   * The field's value in all rows, where one column has them as numbers or codes, so that nothing has to be
   * read for it; undefined, or absent, for any other.
   */
  inPlace?(path: Path): NumberVector | DictionaryVector | undefined
  /** Those of them that are stored in fewer bytes than vectors have, as they are stored. */
  stored?(path: Path): StoredField | undefined
  /** Whether the field's values in these rows are of several kinds, or in several places. */
  isVaried?(path: Path): boolean
  /** Where such a field has them: no two parts have a row in common, and in all other rows it is null. */
  parts?(path: Path): readonly FieldPart[] | undefined
  /** Those parts of the selection that have rows. */
  variants?(path: Path, selection: Selection): readonly FieldVariant[] | undefined
  /**
   * The field where an index says that it may have one of the phrases, in some of the selected rows; undefined,
   * or absent, when none tells. What is read is not kept, so that a batch reads no more than these rows.
   */
  withPhrase?(
    path: Path,
    phrases: SoughtPhrases,
    selection: Selection,
  ): readonly FieldVariant[] | undefined
  /** The field as codes that other tasks know, if its values in these rows are texts and have such. */
  sharedCodes?(path: Path): SharedCodes | undefined
  /** Where the field is not null, if bitmaps of columns tell all of it. Cheaper than `isNull`. */
  presence?(path: Path): Presence | undefined
  /** Whether columns tell that the field is an object or null in each of these rows. */
  hasOnlyObjects?(path: Path): boolean
  /** One byte per row: 1 where the field is null. Cheaper than its values. */
  isNull(path: Path, selection: Selection): Uint8Array
  /**
   * What the objects at `path` hold, member by member in the order of their names: a vector is null
   * in rows without the member. Undefined, or absent, when it is only known value by value.
   */
  entries?(path: Path, selection: Selection): readonly ObjectEntry[] | undefined
  /** A column of the aggregation that made the rows; batches of scans have none. */
  groupColumn?(index: number, selection: Selection): Vector
}

/** Numbers, times in milliseconds, or codes of entries: one for each row of the batch. */
export type StoredField = StoredIntegers &
  (
    | { readonly kind: 'number' | 'timestamp' }
    | { readonly kind: 'dictionary'; readonly entries: DictionaryEntries }
  )

/** Numbers or codes of all rows of a batch, null where its column has no value. */
export interface InPlace {
  /** As they are stored, where that takes fewer bytes. */
  stored(): StoredField | undefined
  vector(): NumberVector | DictionaryVector | undefined
}

/** Rows that are in one of several bitmaps, of which row 0 of the batch is row `first`. */
export interface Presence {
  readonly bitmaps: readonly Uint8Array[]
  readonly first: number
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
  /** The distinct values, where rows have codes of them. */
  readonly entries: DictionaryEntries | undefined
  /** What a column has of them, where it has numbers or codes. */
  readonly inPlace: InPlace | undefined
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

export interface ObjectEntry {
  readonly name: string
  readonly vector: Vector
}
