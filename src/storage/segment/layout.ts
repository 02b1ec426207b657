/**
 * The bytes of a segment: one Arrow IPC file that any Arrow reader opens.
 *
 *     file       = "ARROW1" 00 00  schema  dictionary batch*  record batch  footer  "ARROW1"
 *     columns    = keys  path column*  [residual]  [loose bytes]
 *     keys       = object:Int32  pagination.transaction:Float64  pagination.index:Int32
 *                  [transaction:Float64]  [index:Int32]  [shown_transaction:Float64]
 *     path column, named `path:type`, where the path's keys are joined by points:
 *                  number     numbers
 *                  timestamp  numbers: milliseconds since 1970 UTC
 *                  boolean    Bool
 *                  text       Utf8, or coded, compressed or packed
 *                  json       Utf8, or coded, or compressed
 *                  objects, stored, nulls   Bool: rows for which that holds
 *     compressed = Uint16 or Int32: where the text ends. `text-blocks.ts` says how, and what of it is
 *                  among the loose bytes
 *     packed     = FixedSizeBinary: identifiers, as `packed-texts.ts` says
 *     numbers    = Float64, or Int8, Int16 or Int32 if that loses nothing
 *     coded      = Dictionary<Int8, Int16 or Int32, Utf8>
 *     residual   = Utf8, or coded, or compressed: a JSON object, or null
 *     loose bytes = FixedSizeBinary, of which all rows together are buffers, each from a multiple of 8 bytes
 *                  on, and zeros: blocks of texts, and indexes of dictionaries (`gram-writer.ts`)
 *
 * All rows are in the one record batch. They are ordered by object, pagination key, version. Where the
 * version's transaction or index equals that of the pagination key in all rows, it is left out.
 *
 * Numbers and codes are as narrow as they can be. Whole numbers either stand for themselves, or the metadata
 * of the column's field has a `base` and a `divisor`: then each stands for the double that is closest to
 * (number + base) / divisor, as 0.25 is (25 + 0) / 100 and a time is some milliseconds after the first. So
 * doubles of few decimals and times of some weeks take four bytes at most. Times are none of Arrow's
 * Timestamp, which has eight. A row without a value has the least number of the width; one without a text
 * has the code -1: batches are widened without reading the bitmap (`narrow-numbers.ts`, `kernel/widen.ts`).
 *
 * A segment that is large anyway is padded to `mappedBytes`: LMDB then hands out its place in the
 * memory map instead of a copy. Buffers start at multiples of 8 bytes of the file, and an LMDB value
 * of that size starts at one too, so columns are typed arrays over the map.
 *
 * Where each buffer lies is kept in the segment's metadata (`metadata.ts`), so that opening a
 * segment reads none of Arrow's own metadata.
 */

/** LMDB maps longer values, where its binding can, and copies others. */
export const mappedBytes = 16 * 2 ** 20

/** Segments from this size on, or of so many rows, are padded to be mapped. */
export const paddedFromBytes = 8 * 2 ** 20
export const paddedFromRows = 65_536

/** Buffers of a file start at multiples of it. */
export const bufferAlignment = 8

/** Key columns in the order of the file, by their names in `KeyColumns`. */
export const keyColumnNames = {
  object: 'object',
  paginationTransaction: 'pagination.transaction',
  paginationIndex: 'pagination.index',
  transaction: 'transaction',
  index: 'index',
  shownTransaction: 'shown_transaction',
  supersededBy: 'superseded_by',
} as const

export type KeyColumnName = keyof typeof keyColumnNames

export const residualName = 'residual'
export const looseName = 'bytes'

/** Bytes, and where they are among the loose ones. */
export interface AlignedBytes {
  readonly bytes: Uint8Array
  readonly offset: number
}

/** Each from an aligned place on, one after the other; and how many bytes all take. */
export function aligned(buffers: readonly Uint8Array[]): {
  readonly buffers: readonly AlignedBytes[]
  readonly byteLength: number
} {
  let byteLength = 0
  const placed = buffers.map((bytes) => {
    const offset = byteLength
    byteLength += Math.ceil(bytes.length / bufferAlignment) * bufferAlignment
    return { bytes, offset }
  })
  return { buffers: placed, byteLength }
}

/** What a column of a path holds. */
export type ColumnType =
  | 'number'
  | 'timestamp'
  | 'boolean'
  | 'text'
  | 'json'
  | 'objects'
  | 'stored'
  | 'nulls'

/** The name of a path's column in the file; no two differ in path or type and share it. */
export function columnName(path: readonly string[], type: ColumnType): string {
  const parts = path.map((key) =>
    /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(key) ? key : JSON.stringify(key),
  )
  return `${parts.join('.')}:${type}`
}
