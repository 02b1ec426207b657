/**
 * Writes prepared rows: the one place that gives transactions and changes rows, ids, log and
 * supersessions, always together. There is one writer per data directory.
 */
import type { WireError } from '../../error.ts'
import { nextTransaction, rowsPerTransaction } from '../../type/transaction.ts'
import type { RecordsEnvironment } from '../environment.ts'
import { IdWriter } from '../id/id-writer.ts'
import { lastSupersessionKey, transactionKey, transactionOf } from '../record-key.ts'
import {
  encodeLogEntry,
  encodeSpill,
  endOfLog,
  type LogEntry,
  type ObjectWrite,
} from '../record-log.ts'
import { LentRows } from '../row/lent-rows.ts'
import type { PreparedRows } from '../row/prepared-rows.ts'
import { StoredRows } from '../row/stored-rows.ts'
import { isDiskFault, storageError } from '../storage-error.ts'
import { FieldPathStore } from './field-path-store.ts'
import { type RequestStorage, RequestWriter } from './request-writer.ts'

export interface WriteRequest {
  /** Its memory is written to. */
  readonly rows: PreparedRows
  /** The number of each of `rows.objects`. */
  readonly objectNumbers: readonly number[]
  /** Bodies that are not here, of records that the rows change: see `LentRows`. */
  readonly lent?: readonly SharedArrayBuffer[]
}

export interface Written {
  /** The first snapshot that sees all rows. */
  readonly transaction: number
  /** The first transaction of the rows' keys. */
  readonly first: number
  /** For each request, the `_xact_id` of its rows. */
  readonly transactions: readonly number[]
  readonly objects: readonly ObjectWrite[]
  /** Numbers of the objects whose rows all became new records, just as they were prepared. */
  readonly unchanged: readonly number[]
  /** Numbers of the objects whose rows have fields that they did not have before. */
  readonly newFields: readonly number[]
}

export type WriteOutcome = { readonly written: Written } | { readonly error: WireError }

export interface RecordWriterOptions {
  readonly now?: () => number
  /** See `IdWriter`. */
  readonly runIds?: number
}

export class RecordWriter {
  readonly #records: RecordsEnvironment
  readonly #now: () => number
  readonly #fieldPaths: FieldPathStore
  readonly #storage: RequestStorage
  #last: number

  /** `records` must be open for writing. */
  constructor(records: RecordsEnvironment, { now = Date.now, runIds }: RecordWriterOptions = {}) {
    this.#records = records
    this.#now = now
    this.#last = lastLogged(records)
    const storedRows = new StoredRows(records)
    this.#storage = { records, ids: new IdWriter(records, runIds), storedRows }
    this.#fieldPaths = new FieldPathStore(records)
    records.root.transactionSync(() => this.#fieldPaths.rebuildIfMissing())
    // The writer's thread may not come to the end of its turn, where the read would end by itself.
    records.root.resetReadTxn()
  }

  /**
   * Writes everything in one commit, each request with a transaction of its own; all is on disk when
   * this returns. What cannot be written has an error and leaves nothing behind.
   */
  write(requests: readonly WriteRequest[]): WriteOutcome[] {
    const last = this.#last
    try {
      return this.#records.root.transactionSync(() => {
        const outcomes = requests.map((request) => ({ written: this.#writeRequest(request) }))
        this.#storage.ids.store()
        return outcomes
      })
    } catch (thrown) {
      this.#last = last
      this.#fieldPaths.forget()
      this.#storage.storedRows.forget()
      this.#storage.ids.forget()
      const error = storageError('the records', thrown, this.#records.directory).toWire()
      if (requests.length === 1 || isDiskFault(thrown)) return requests.map(() => ({ error }))
      // Nothing of the group was kept; alone, each shows whether the fault is its own.
      return requests.flatMap((request) => this.write([request]))
    }
  }

  #writeRequest({ rows, objectNumbers, lent }: WriteRequest): Written {
    this.#storage.storedRows.lend(lent && LentRows.of(lent))
    const first = nextTransaction(this.#last, this.#now())
    const count = Math.max(rows.requestEnds.length, Math.ceil(rows.ids.length / rowsPerTransaction))
    const last = first + Math.max(1, count) - 1
    const writer = new RequestWriter(this.#storage, { rows, objectNumbers, first, last })
    const writes = writer.write()
    const newFields = objectNumbers.filter((object, place) =>
      this.#fieldPaths.add(object, rows.fieldPaths[place] ?? []),
    )
    const isOne = writes.length === 1
    const transactions = writes.map((_, request) => (isOne ? last : first + request))
    writes.forEach((objects, request) => {
      const transaction = transactions[request]!
      this.#log({ transaction, first: isOne ? first : transaction, objects })
    })
    this.#last = last
    for (const { object, supersessions } of writes.flat()) {
      if (supersessions === 0) continue
      this.#records.progress.putSync(lastSupersessionKey(object), transactionKey(last))
    }
    const { unchanged } = writer
    return { transaction: last, first, transactions, objects: sumOf(writes), unchanged, newFields }
  }

  #log(logged: LogEntry): void {
    const { log } = this.#records
    const entry = encodeLogEntry(logged)
    log.putSync(entry.key, entry.value)
    const { first, transaction: last } = logged
    if (first === last) return
    const spill = encodeSpill({ first, last })
    log.putSync(spill.key, spill.value)
  }
}

/** What all requests have written to each object. */
function sumOf(writes: readonly (readonly ObjectWrite[])[]): readonly ObjectWrite[] {
  if (writes.length === 1) return writes[0]!
  const sums = new Map<number, ObjectWrite>()
  for (const write of writes.flat()) {
    const { object, rows, supersessions, bytes } = write
    const sum = sums.get(object)
    sums.set(
      object,
      sum
        ? {
            object,
            rows: sum.rows + rows,
            supersessions: sum.supersessions + supersessions,
            bytes: sum.bytes + bytes,
          }
        : write,
    )
  }
  return [...sums.values()]
}

function lastLogged({ log }: RecordsEnvironment): number {
  for (const key of log.getKeys({
    start: endOfLog,
    end: transactionKey(0),
    reverse: true,
    limit: 1,
  }))
    return transactionOf(key)
  return 0
}
