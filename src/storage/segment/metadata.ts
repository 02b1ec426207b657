/**
 * What is known of a segment without its bytes: where its buffers lie, and what pruning asks for.
 * Stored beside the segment as JSON with a checksum.
 */
import { AssayError } from '../../error.ts'
import type { NumberScale } from '../../kernel/widen.ts'
import type { RowKey } from '../../type/transaction.ts'
import { decodeChecked, encodeChecked } from './checked-json.ts'
import type { GramShape } from './gram-writer.ts'
import type { KeyColumnName } from './layout.ts'
import type { PackedShape } from './packed-texts.ts'
import type { TermShape } from './term-writer.ts'

/**
 * In the first one, codes have four bytes, and numbers are doubles. In the second one, identifiers are texts
 * like others, and no column is shared by what belongs to no row.
 */
const olderFormats = [1, 2] as const
export const segmentFormat = 3

/** A buffer's place in the file, and the CRC-32 of its bytes. */
export type BufferPlace = readonly [offset: number, byteLength: number, checksum: number]

/** Rows of one object: all rows from `from` to `to`. */
export interface ObjectRows {
  readonly object: number
  readonly from: number
  readonly to: number
  /** Pagination keys of the first and the last row. */
  readonly firstPagination: RowKey
  readonly lastPagination: RowKey
  /** Least and greatest transaction of the row versions. */
  readonly firstTransaction: number
  readonly lastTransaction: number
  /** Least and greatest `created` in milliseconds; null when it has none as a time. */
  readonly firstCreated: number | null
  readonly lastCreated: number | null
  /**
   * No span among these rows that reports usage is the parent of another (`function/repeated-usage.ts`). Absent where
   * one may be, and in older segments.
   */
  readonly isUsageOfLeaves?: true
}

interface ColumnBase {
  readonly path: readonly string[]
  /** Rows that have no value of this type here. */
  readonly nullCount: number
  /** Absent when every row has a value. */
  readonly validity?: BufferPlace
}

/** Least and greatest value; of a granule without values, null. */
export interface NumberZones {
  readonly minimum: number
  readonly maximum: number
  readonly granuleMinimums: readonly (number | null)[]
  readonly granuleMaximums: readonly (number | null)[]
  /** How many values a granule has; absent when every row has one. Older segments never say. */
  readonly granuleCounts?: readonly number[]
  /** Absent for times, and in older segments. Null: beyond what two doubles hold. */
  readonly granuleSums?: readonly (number | null)[]
  /** What rounding has taken from the sums, exactly; absent when it took nothing. */
  readonly granuleRests?: readonly number[]
  /** The same in older segments, and rounded: sums of them are not to be used. */
  readonly granuleErrors?: readonly number[]
}

export interface NumberColumnMetadata extends ColumnBase, NumberZones {
  readonly type: 'number' | 'timestamp'
  readonly values: BufferPlace
  /** What the whole numbers stand for that it is stored as; absent when it is stored as doubles. */
  readonly scale?: NumberScale
}

export interface BooleanColumnMetadata extends ColumnBase {
  readonly type: 'boolean'
  readonly values: BufferPlace
  readonly trueCount: number
}

/** Bounds of texts in the order of code points, shortened; no maximum: unbounded. */
export interface TextBounds {
  readonly minimum: string
  readonly maximum?: string
}

export interface TextColumnBase extends ColumnBase {
  readonly type: 'text' | 'json'
  /** Absent for JSON, whose texts have no order that matters. */
  readonly bounds?: TextBounds
}

export type TextColumnMetadata = TextColumnBase &
  (
    | { readonly encoding: 'plain'; readonly offsets: BufferPlace; readonly bytes: BufferPlace }
    | {
        readonly encoding: 'compressed'
        readonly ends: BufferPlace
        readonly directory: BufferPlace
        /** Its checksum is that of the whole; the directory has one for each block. */
        readonly blocks: BufferPlace
      }
    | ({ readonly encoding: 'packed'; readonly values: BufferPlace } & PackedShape)
    | {
        readonly encoding: 'dictionary'
        readonly codes: BufferPlace
        readonly offsets: BufferPlace
        readonly bytes: BufferPlace
        readonly distinctCount: number
      }
  )

/** Where the bits of an index of parts lie. */
export interface GramPlace extends GramShape {
  /** Its checksum is that of the whole; the index has its own ones by page. */
  readonly place: BufferPlace
}

/** The index of all parts of a column's texts: of its rows, or of its dictionary. */
export interface GramIndexMetadata extends GramPlace {
  readonly path: readonly string[]
  readonly type: 'text' | 'json' | 'residual'
}

/** The index of the words of a column's rows. */
export interface TermIndexMetadata extends TermShape {
  readonly path: readonly string[]
  readonly type: 'text' | 'json' | 'residual'
  readonly place: BufferPlace
  /** The parts of words that are not in it; absent when all are. */
  readonly beside?: GramPlace
}

/** Of these, `nullCount` counts the rows for which it does not hold. */
export interface BitmapColumnMetadata extends ColumnBase {
  readonly type: 'objects' | 'stored' | 'nulls'
  readonly values: BufferPlace
}

export type ColumnMetadata =
  | NumberColumnMetadata
  | BooleanColumnMetadata
  | TextColumnMetadata
  | BitmapColumnMetadata

export interface SegmentMetadata {
  readonly format: typeof segmentFormat | (typeof olderFormats)[number]
  readonly rowCount: number
  /** Bytes of the file, and of the rows that it was made of. */
  readonly byteLength: number
  readonly rowBytes: number
  /** Least and greatest transaction of its row versions. */
  readonly firstTransaction: number
  readonly lastTransaction: number
  /**
   * In segments of superseded versions alone: none of them is seen from this transaction on. By which
   * transaction each was superseded, its key says.
   */
  readonly supersededThrough?: number
  /** No version in it was superseded up to this transaction; absent where that was not found out. */
  readonly currentThrough?: number
  /** By number, which is the order of the rows. */
  readonly objects: readonly ObjectRows[]
  readonly keys: Readonly<Partial<Record<KeyColumnName, BufferPlace>>>
  readonly columns: readonly ColumnMetadata[]
  readonly residual?: TextColumnMetadata
  /** Paths at which, or below which, residual values begin; absent in older segments with too many to list. */
  readonly residualPaths?: readonly (readonly string[])[]
  /** Absent when no column has one. */
  readonly partIndexes?: readonly GramIndexMetadata[]
  readonly wordIndexes?: readonly TermIndexMetadata[]
  /** Those of older versions, in which texts were folded and cut in another way. */
  readonly gramIndexes?: readonly GramIndexMetadata[]
  readonly termIndexes?: readonly TermIndexMetadata[]
  /** Of older segments: whether they have all the indexes that their texts are worth. */
  readonly isFinished?: true
  /** Added when the segment is opened: what was stored beside it later. */
  readonly textIndexes?: TextIndexMetadata
}

/** Indexes that are stored beside a segment. Their places are in bytes of their own. */
export interface TextIndexMetadata {
  readonly byteLength: number
  readonly partIndexes: readonly GramIndexMetadata[]
  readonly wordIndexes: readonly TermIndexMetadata[]
}

/** Whether it is a segment of superseded versions. */
export function isSupersededWhole({ supersededThrough }: SegmentMetadata): boolean {
  return supersededThrough !== undefined
}

/** Paths at which, or below which, its residual has values. */
export function residualPathsOf({
  residual,
  residualPaths,
}: SegmentMetadata): readonly (readonly string[])[] {
  return residual ? (residualPaths ?? anywhere) : []
}

const anywhere: readonly (readonly string[])[] = [[]]

export function encodeMetadata(metadata: SegmentMetadata): Buffer {
  return encodeChecked(metadata)
}

export function encodeTextIndexMetadata(metadata: TextIndexMetadata): Buffer {
  return encodeChecked(metadata)
}

/** Throws STORAGE_CORRUPT unless `bytes` are what `encodeTextIndexMetadata` made. */
export function decodeTextIndexMetadata(bytes: Uint8Array, segment: number): TextIndexMetadata {
  const metadata = decodeChecked(bytes) as TextIndexMetadata | undefined
  if (metadata !== undefined) return metadata
  throw corruptSegment(segment, 'the metadata of its indexes does not match its checksum')
}

/** Throws STORAGE_CORRUPT unless `bytes` are what `encodeMetadata` made. */
export function decodeMetadata(bytes: Uint8Array, segment: number): SegmentMetadata {
  const metadata = decodeChecked(bytes) as SegmentMetadata | undefined
  if (metadata === undefined) {
    throw corruptSegment(segment, 'its metadata does not match its checksum')
  }
  const { format } = metadata
  if (format !== segmentFormat && !olderFormats.includes(format)) {
    throw corruptSegment(segment, `format ${format as number} is not known to this version`)
  }
  return metadata
}

/** @param segment undefined while it has no number, as when it is being written */
export function corruptSegment(segment: number | undefined, fault: string): AssayError {
  const name = segment === undefined ? 'a segment' : `segment ${segment}`
  return new AssayError('STORAGE_CORRUPT', `${name} cannot be read: ${fault}`, {
    hint: 'stop the service and run "assay check --repair"; segments are made again from the records',
    damagedSegment: segment,
  })
}
