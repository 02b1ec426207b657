import type { RecordReader } from '../../storage/read/record-reader.ts'
import type { SegmentMetadata } from '../../storage/segment/metadata.ts'
import type { RowKey } from '../../type/transaction.ts'
import type { FreshSnapshot } from '../maintenance/fresh-rows.ts'

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

/** Values of the row store, mostly blocks of 64 KiB, that one part of a history has at most. */
const historyPartValues = 128

/** The parts of what an object ever had, oldest first. */
export function historyParts(records: RecordReader, object: number): KeyRange[] {
  const starts: RowKey[] = []
  let values = 0
  for (const key of records.partsOf(object))
    if (values++ % historyPartValues === 0) starts.push(key)
  const end = { transaction: 2 ** 48 - 1, index: 0xffff }
  return starts.map((from, i) => ({ from, to: starts[i + 1] ?? end }))
}
