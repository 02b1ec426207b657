import type { RowControl } from '../row/prepared-rows.ts'
import type { RowHeader, RowView } from '../row/row.ts'

/** A new row, and what it meets. */
export interface RowChange {
  /** The current version; undefined for a new record. */
  readonly base: RowView | undefined
  /** The new row as it was prepared. */
  readonly patch: RowView
  readonly isMerge: boolean
  readonly control: Partial<RowControl>
  /** The row of the record that `control.parentId` names. */
  readonly parent: RowView | undefined
  readonly keys: Omit<RowHeader, 'flags' | 'createdMs'>
}
