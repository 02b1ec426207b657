import type { SegmentMetadata } from '../storage/segment/metadata.ts'
import type { RowKey } from '../type/transaction.ts'
import type { FreshSnapshot } from './fresh-rows.ts'

export interface KeyRange {
  readonly from: RowKey
  /** The first key that is not of it. */
  readonly to: RowKey
}

/** What a query sees, and keeps from being deleted until it is released. */
export interface QuerySnapshot {
  /** Row versions of this transaction and earlier ones. */
  readonly transaction: number
  readonly segments: readonly { readonly id: number; readonly metadata: SegmentMetadata }[]
  /** What is in no segment yet. */
  readonly fresh: FreshSnapshot
  /** Parts in which all row versions of the object can be read; the last may have newer ones, too. */
  history(object: number): readonly KeyRange[]
  release(): void
}
