/**
 * From when on all that the records environment has carries checksums. An older version wrote none: what it has
 * written of rows and of runs of ids gets one when it is written anew; all else does when the directory is first opened
 * for writing.
 *
 *     note = transaction u48, run u32        under `checksums` in the database `progress`
 *
 * Rows of later transactions, runs from that number on, and all values of other databases are damaged if they are
 * unchecked.
 */
import { readUint, readUint48, writeUint, writeUint48 } from './big-endian.ts'
import type { CheckedDatabase } from './checked-database.ts'
import { transactionKey, transactionOf } from './record-key.ts'
import { endOfLog } from './record-log.ts'

export interface CheckedSince {
  /** Rows of later transactions have checksums. */
  readonly transaction: number
  /** So have runs of ids with this number, and later ones. */
  readonly run: number
}

const noteKey = Buffer.from('checksums')
const noteBytes = 10
const valuesPerTransaction = 10_000

interface Databases<Transaction> {
  readonly root: { transactionSync(action: () => unknown): unknown; resetReadTxn(): void }
  readonly idRuns: CheckedDatabase<Transaction>
  readonly progress: CheckedDatabase<Transaction>
  readonly log: CheckedDatabase<Transaction>
  /** Those whose values all get checksums. */
  readonly others: readonly CheckedDatabase<Transaction>[]
}

/** Undefined in a directory that may have values without checksums anywhere. */
export function readCheckedSince<T>(progress: CheckedDatabase<T>): CheckedSince | undefined {
  for (const { key, value } of progress.getReadable({ start: noteKey, limit: 1 }, () => {})) {
    if (!key.equals(noteKey) || value.length !== noteBytes) return undefined
    return { transaction: readUint48(value, 0), run: readUint(value, 6) }
  }
  return undefined
}

/**
 * Gives checksums to what has none, but rows and runs of ids, and notes it. Ended at any moment, it can be done again:
 * what has a checksum, right or wrong, stays as it is.
 */
export function addChecksums<T>({
  root,
  idRuns,
  progress,
  log,
  others,
}: Databases<T>): CheckedSince {
  for (const database of [log, ...others]) {
    let last: Buffer | undefined
    do {
      root.resetReadTxn()
      root.transactionSync(() => {
        last = database.addChecksums(last, valuesPerTransaction)
      })
    } while (last)
  }
  const since = { transaction: lastTransaction(log), run: nextRun(idRuns) }
  const note = Buffer.alloc(noteBytes)
  writeUint48(note, 0, since.transaction)
  writeUint(note, 6, since.run)
  root.transactionSync(() => {
    progress.addChecksums(undefined, Number.MAX_SAFE_INTEGER)
    progress.putSync(noteKey, note)
  })
  root.resetReadTxn()
  return since
}

function lastTransaction<T>(log: CheckedDatabase<T>): number {
  const range = { start: endOfLog, end: transactionKey(0), reverse: true, limit: 1 }
  for (const key of log.getKeys(range)) return transactionOf(key)
  return 0
}

/** Numbers of runs only grow. */
function nextRun<T>(idRuns: CheckedDatabase<T>): number {
  const range = { start: Buffer.alloc(8, 0xff), reverse: true, limit: 1 }
  for (const key of idRuns.getKeys(range)) return key.readUInt32BE(0) + 1
  return 0
}
