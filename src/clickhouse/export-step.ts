/** What the thread of the export is asked, and answers. */
import type { FaultKind } from './fault.ts'
import type { ExportedObject } from './object-table.ts'

export interface ExportStep {
  /** Transactions up to this one are exported, of objects that were told of with this step or before. */
  readonly through: number
  /** Whether `written` are all objects that there are. */
  readonly isAll: boolean
  /** Objects that are new, or have another name. */
  readonly written: readonly ExportedObject[]
  /** Numbers of objects that were removed. */
  readonly removed: readonly number[]
  /** Counts changes of the catalog. */
  readonly catalogChanges: number
  /** False while some objects cannot be read: those that are not told of may be there. */
  readonly mayRemove: boolean
  /** Transactions up to this one are to be compared with what the nodes have; undefined: none. */
  readonly verify?: number | undefined
}

/** What is committed and has not arrived. */
export interface BacklogStatus {
  readonly transactions: number
  readonly rows: number
  /** How old the oldest of it is. */
  readonly seconds: number
  /** What was committed later is not counted. */
  readonly counted: number
}

export interface VerifiedStatus {
  /** Up to this transaction the nodes have just what is here. */
  readonly through: number
  /** What differs in those that follow, as was found out more than once. */
  readonly difference: string | undefined
}

export interface ExportStatus extends BacklogStatus {
  /** All transactions up to this one have arrived. */
  readonly through: number
  /** Of those, up to this one each shard has a replica that is noted to have all of them, of this export of all. */
  readonly noted: number
  /** The same as far as it was noted before the service started, too. */
  readonly arrived: number
  readonly roundId: string
  readonly runThrough: number
  /** What was removed from the data directory up to this time is removed there, too: see `readPurged`. */
  readonly purged: number
  readonly verified: VerifiedStatus
  /** Whether it was told of no objects yet, so that nothing is exported. */
  readonly needsObjects: boolean
  /** How often all was sent anew, counted from 1. */
  readonly round: number
  /** Since the start of the service. */
  readonly sentRows: number
  readonly sentBytes: number
  readonly fault: { readonly kind: FaultKind; readonly message: string } | undefined
}
