import type { ObjectReference } from '../../type/record.ts'
import type { FieldPath } from './field-shapes.ts'

/** What a row of a request does to the record of its id. */
export const rowActions = { replace: 0, merge: 1, delete: 2, comment: 3 } as const

export type RowAction = (typeof rowActions)[keyof typeof rowActions]

/**
 * The rows of a request, or of several small ones, checked and encoded, as plain data that crosses
 * threads.
 *
 * Each row is encoded (`storage/row/row.ts`) as it is if its record is new, with a header whose keys
 * are still to be filled in. Null members are kept in rows that merge, because there they mean
 * something. A comment's row holds a `comments` array with the one comment.
 */
export interface PreparedRows {
  readonly bytes: Uint8Array
  /** Row `i` ends at `ends[i]`, and the next begins there. */
  readonly ends: Float64Array
  /** The rows of request `i` end before row `requestEnds[i]`. */
  readonly requestEnds: Uint32Array
  /**
   * Row `i` gets the version `rowKey(first, numbers[i])`, where `first` is the first transaction that the
   * writer gives. Of one request the numbers are 0, 1, 2 …; each of several has a transaction of its own.
   */
  readonly numbers: Uint32Array
  readonly ids: readonly string[]
  /** Of each row's id (`storage/id/id-run.ts`), one after the other. */
  readonly idHashes: Uint8Array
  readonly actions: Uint8Array
  /** The distinct objects that the rows name, and which one each row does. */
  readonly objects: readonly ObjectReference[]
  readonly objectOf: Uint32Array
  /**
   * Per object, the fields that its rows have: those that are no columns of its type, and what is in
   * objects, as far as `field-shapes.ts` goes.
   */
  readonly fieldPaths: readonly (readonly FieldPath[])[]
  /** In the order of their rows; most rows have none. */
  readonly controls: readonly RowControl[]
  /** Of objects with many rows; in each object, in the order of its rows. */
  readonly blocks: readonly PreparedBlock[]
  readonly blockBytes: Uint8Array
}

/** Rows of one object as they can be written if all of them are new (`storage/row/row-block.ts`). */
export interface PreparedBlock {
  /** The place of their object in `objects`. */
  readonly object: number
  /** Which rows of the request, or of the several, ascending. */
  readonly rows: readonly number[]
  readonly codec: number
  readonly length: number
  /** Where the body is in `blockBytes`. */
  readonly start: number
  readonly end: number
}

/** What a row asks for besides its fields. */
export interface RowControl {
  readonly row: number
  /** Paths below which a merge replaces. */
  readonly mergePaths?: readonly (readonly string[])[]
  readonly arrayDeletes?: readonly ArrayDelete[]
  /** Id of the record whose span is the parent of this row's. */
  readonly parentId?: string
  /** Id of the record that this comment is on. */
  readonly commentOn?: string
  /** An entry for the record's `audit_data`, JSON text that lacks only the transaction. */
  readonly audit?: RowAudit
}

/** Removes from the array at `path` what equals one of `values`, given by `canonicalJson`. */
export interface ArrayDelete {
  readonly path: readonly string[]
  readonly values: readonly string[]
}

/** Who wrote a row, and what they said about it: JSON text. */
export interface RowAudit {
  readonly source?: string
  readonly metadata?: string
}
