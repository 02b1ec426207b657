/**
 * Columns: what shredding makes of JSON, and what scans read.
 *
 * A path's values may be of several types, so a path has one column per type that occurs, and their
 * validity bitmaps are disjoint: a row is valid in at most one of them. A row that is valid in none,
 * and not in `objects` or the residual, has null (or nothing) at the path.
 *
 * Bitmaps are Arrow's: bit `i & 7` of byte `i >> 3`, set when valid; undefined when every row is.
 */
import type { Codes, Numbers } from './elements.ts'
import type { GramIndex } from './gram-index.ts'
import type { TermIndex } from './term-index.ts'

export interface NumberColumn {
  readonly values: Numbers
  readonly validity: Uint8Array | undefined
}

/** `bits` has one bit per row, as Arrow's Bool. */
export interface BooleanColumn {
  readonly bits: Uint8Array
  readonly validity: Uint8Array | undefined
}

/** UTF-8 texts, end to end: text `i` is `bytes[offsets[i] .. offsets[i + 1]]`. */
export interface Texts {
  /** A Buffer, and not another Uint8Array, because it decodes and searches natively. */
  readonly bytes: Buffer
  readonly offsets: Int32Array
  /** The same for the same texts whenever a thread opens their segment; for what is kept of them. */
  readonly identity?: object
}

/** Texts of rows that are made from what is stored when they are read, a part of a granule at a time. */
export interface CompressedTexts {
  readonly count: number
  /** As that of `Texts`. */
  readonly identity?: object
  /** Whether a text is made without those around it. */
  readonly areApart: boolean
  /** Bytes of the text of a row. */
  lengthAt(row: number): number
  textAt(row: number): Buffer
  /**
   * The texts of rows `from … from + count`, numbered from 0. Only what the rows of the selection
   * lie in is decompressed; any other text may be empty. They are good until the batch that they are read in ends.
   *
   * @param selection rows counted from `from`, ascending; undefined: all
   */
  between(from: number, count: number, selection: Int32Array | undefined): Texts
  /** The texts of all rows, some at a time, in their order. None of them is kept. */
  parts(): Iterable<Texts>
  /** Whether a text may have the part, in whatever case; absent: any may. */
  mayHold?(part: string): boolean
}

/**
 * A text column: its rows' texts one by one, perhaps compressed, or codes into distinct texts.
 */
export type TextColumn =
  | {
      readonly encoding: 'plain'
      /** Not read before it is asked for. */
      readonly texts: Texts
      readonly validity: Uint8Array | undefined
      /** The index of the parts of all texts; those of JSON are indexed as JSON. */
      readonly grams?: GramIndex | undefined
      /** The index of their words: a column has one of the two at most. */
      readonly terms?: TermIndex | undefined
    }
  | {
      /** Only in segments. */
      readonly encoding: 'compressed'
      /** Not read before it is asked for. */
      readonly texts: CompressedTexts
      readonly validity: Uint8Array | undefined
      readonly grams?: GramIndex | undefined
      readonly terms?: TermIndex | undefined
    }
  | {
      readonly encoding: 'dictionary'
      readonly codes: Codes
      readonly dictionary: Texts
      readonly validity: Uint8Array | undefined
      /** The index of the dictionary's texts. */
      readonly grams?: GramIndex | undefined
    }

/** A text column that was not compressed, or is not any more. */
export type UncompressedColumn = Exclude<TextColumn, { readonly encoding: 'compressed' }>

/** A text column of which equal texts are not numbered. */
export type UnnumberedColumn = Exclude<TextColumn, { readonly encoding: 'dictionary' }>

/** What one path holds, by type. Columns that no row needs are absent. */
export interface PathColumns {
  readonly number?: NumberColumn
  /** Milliseconds since 1970 UTC. Only `created` is typed so; other times are text. */
  readonly timestamp?: NumberColumn
  readonly boolean?: BooleanColumn
  readonly text?: TextColumn
  /**
   * JSON text of what has no column type: arrays, empty objects, numbers that a double cannot hold,
   * strings that UTF-8 cannot hold (lone surrogates).
   */
  readonly json?: TextColumn
  /** Rows whose value is an object with keys; what it holds is under the longer paths. */
  readonly objects?: Uint8Array
  /**
   * Rows whose value is not in the columns because it is too long for them. Only the row store has
   * it. Such a row may hold anything at the path or below it, and is valid in no column there nor
   * in the residual. The empty path has `stored` rows too: those may hold anything anywhere.
   */
  readonly stored?: Uint8Array
  /**
   * Rows that say `null` here in so many words. It is null like an absent value; only an object
   * around it that is put together again has to know.
   */
  readonly nulls?: Uint8Array
}

/** Where rows come from and which versions they are; parallel arrays, ordered by `compareKeys`. */
export interface KeyColumns {
  /** Number of the object that holds the row. */
  readonly object: Int32Array
  readonly paginationTransaction: Float64Array
  readonly paginationIndex: Int32Array
  readonly transaction: Float64Array
  readonly index: Int32Array
  /**
   * The transaction that `_xact_id` shows, where that of some row's key is another (rows of a request
   * that were too many for one transaction). Absent when the two are the same in all rows.
   */
  readonly shownTransaction?: Float64Array
  /** The transaction from which on the version is not seen; only where all of them have one. */
  readonly supersededBy?: Float64Array
}

/**
 * A run of row versions as columns: a segment, or a memtable. Rows are ordered by object,
 * then pagination key, then version, all ascending.
 */
export interface ColumnSet {
  readonly rowCount: number
  readonly keys: KeyColumns
  /** Columns of exactly this path; undefined when no row outside the residual has a value there. */
  columns(path: readonly string[]): PathColumns | undefined
  /** Paths that have columns and lie strictly below `path`. */
  pathsBelow(path: readonly string[]): readonly (readonly string[])[]
  /**
   * JSON objects holding what is too rare or too deep for a column, nested as in the row; null for
   * rows that have none. Undefined when no row has.
   */
  readonly residual: TextColumn | undefined
  /** Whether the residual may hold something at, above or below `path`. */
  residualMayHold(path: readonly string[]): boolean
  /**
   * Whether the residual may have the whole value at `path`. Where it has members of an object alone, the
   * row is among the path's `objects`.
   */
  residualMayBe(path: readonly string[]): boolean
}

/** Rows of a granule: the unit of zone maps within a segment, and of a scan's batches. */
export const granuleRows = 8192
