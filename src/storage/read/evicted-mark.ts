/** How far the bodies of row versions have left the data directory, as a cluster has them. */
import type { RowKey } from '../../type/transaction.ts'
import type { ReadTransaction, RecordDatabase } from '../environment.ts'

export interface EvictedMark {
  /** Rows of this transaction and earlier ones are read of the cluster, whether their bodies have left or not. */
  readonly through: number
  /** The database that has them. */
  readonly database: string
  /** All bodies of this transaction and earlier ones have left. */
  readonly done: number
  /** Where to go on with the others. */
  readonly next: { readonly object: number; readonly version: RowKey } | undefined
  /** Whether keys alone are kept of all that has left: earlier services kept more. */
  readonly areKeysAlone?: boolean
  /** Row versions whose bodies have left, and the bytes that values of the row store are fewer since. */
  readonly rows: number
  readonly bytes: number
}

const markKey = Buffer.from('evicted')

/** Undefined where all bodies are here. */
export function readEvictedMark(
  progress: RecordDatabase,
  transaction?: ReadTransaction,
): EvictedMark | undefined {
  const value = progress.get(markKey, transaction ? { transaction } : undefined)
  return value && (JSON.parse(value.toString()) as EvictedMark)
}

/** Within a transaction. */
export function putEvictedMark(progress: RecordDatabase, mark: EvictedMark): void {
  progress.putSync(markKey, Buffer.from(JSON.stringify(mark)))
}
