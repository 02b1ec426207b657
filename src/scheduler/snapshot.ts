import type { SegmentMetadata } from '../storage/segment/metadata.ts'
import type { RowKey } from '../type/transaction.ts'

export interface KeyRange {
  readonly from: RowKey
  /** The first key that is not of it. */
  readonly to: RowKey
}

/** What a query sees, and keeps from being deleted until it is released. */
export interface QuerySnapshot {
  /** Row versions of this transaction and earlier ones. */
  readonly transaction: number
  /** Those up to this one are in the segments. */
  readonly flushedThrough: number
  readonly segments: readonly { readonly id: number; readonly metadata: SegmentMetadata }[]
  /** Whether rows of the object may have been written after `flushedThrough`. */
  hasDelta(object: number): boolean
  /** Parts in which all row versions of the object can be read; the last may have newer ones, too. */
  history(object: number): readonly KeyRange[]
  release(): void
}
