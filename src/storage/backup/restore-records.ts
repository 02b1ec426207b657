/**
 * Writes what a backup has into an empty environment of records. Rows and the log are copied; ids, supersessions and names
 * of fields follow from the rows and are made again, so that every row is read and checked. Segments are left to the
 * service, which makes them from the records.
 */
import { type RowKey, rowKey } from '../../type/transaction.ts'
import type { RecordsEnvironment } from '../environment.ts'
import { fullHash, hashId } from '../id/id-run.ts'
import { IdWriter } from '../id/id-writer.ts'
import {
  lastSupersessionKey,
  objectOf,
  supersessionKey,
  transactionKey,
  transactionOf,
} from '../record-key.ts'
import { decodeLogEntry, endOfLog } from '../record-log.ts'
import type { RowView } from '../row/row.ts'
import { StoredRows } from '../row/stored-rows.ts'
import { FieldPathStore } from '../write/field-path-store.ts'
import { cutRows, rowsOf } from './cut-rows.ts'
import { entriesOf } from './entry-list.ts'

export interface RestoredCounts {
  readonly objects: number
  readonly rows: number
  readonly transactions: number
  /** The last one that there is an entry of; 0 when there is none. */
  readonly lastTransaction: number
}

/** An object that has fewer row versions than the log says. */
export interface MissingRows {
  readonly object: number
  readonly logged: number
  readonly found: number
}

export interface RestoreOptions {
  /** Later transactions are left out. */
  readonly through: number
  /** Objects that are left out. */
  readonly removed: ReadonlySet<number>
  /** Told of each row version. */
  readonly onRow?: (object: number, id: string) => void
}

const allChecked = { transaction: 0, run: 0 }
/** Rows whose ids are put together before they are written. */
const rowsPerRun = 65_536
/** Of rows that others took the place of: of a block with keys alone, a look costs a millisecond. */
const rowCacheBytes = 64 * 2 ** 20

export class RecordsRestore {
  readonly #records: RecordsEnvironment
  readonly #options: RestoreOptions
  readonly #ids: IdWriter
  readonly #fieldPaths: FieldPathStore
  readonly #stored: StoredRows
  readonly #logged = new Map<number, number>()
  readonly #found = new Map<number, number>()
  readonly #superseded = new Map<number, number>()
  #transactions = 0
  #last = 0
  #unstoredIds = 0

  /** @param records open for writing; its transactions, if it has any, come before those of the backup */
  constructor(records: RecordsEnvironment, options: RestoreOptions) {
    this.#records = records
    this.#options = options
    this.#ids = new IdWriter(records)
    this.#fieldPaths = new FieldPathStore(records)
    this.#stored = new StoredRows(records, rowCacheBytes)
  }

  /** Writes a list of entries of the catalog, but those that are left out. */
  static writeCatalog(
    { root, catalog }: RecordsEnvironment,
    list: Buffer,
    isLeftOut: (key: string) => boolean,
  ): void {
    root.transactionSync(() => {
      for (const { key, value } of entriesOf(list)) {
        if (!isLeftOut(key.toString())) catalog.putSync(key, value)
      }
    })
  }

  writeLog(list: Buffer): void {
    const { root, log } = this.#records
    root.transactionSync(() => {
      for (const { key, value } of entriesOf(list)) {
        if (transactionOf(key) > this.#options.through) continue
        log.putSync(key, value)
        if (key[0] === endOfLog[0]) continue
        this.#transactions++
        this.#last = Math.max(this.#last, transactionOf(key))
        for (const { object, rows } of decodeLogEntry(key, value).objects) {
          add(this.#logged, object, rows)
        }
      }
    })
  }

  writeRows(list: Buffer): void {
    const { root, rows } = this.#records
    const { through, removed } = this.#options
    const range = { from: rowKey(0, 0), to: rowKey(through + 1, 0) }
    root.transactionSync(() => {
      for (const { key, value } of entriesOf(list)) {
        const object = objectOf(key)
        if (removed.has(object)) continue
        const cut = cutRows(key, value, range, allChecked)
        if (!cut) continue
        const stored = Buffer.from(cut.value)
        rows.putSync(cut.key, stored)
        for (const { version, view } of rowsOf(cut.key, stored)) this.#add(object, version, view)
      }
      if (this.#unstoredIds >= rowsPerRun) this.#storeIds()
    })
  }

  /** To be called once all was written. Tells what is missing. */
  finish(): { readonly counts: RestoredCounts; readonly missing: readonly MissingRows[] } {
    const { root, progress } = this.#records
    root.transactionSync(() => {
      this.#storeIds()
      for (const [object, last] of this.#superseded) {
        progress.putSync(lastSupersessionKey(object), transactionKey(last))
      }
      this.#superseded.clear()
    })
    root.resetReadTxn()
    const missing: MissingRows[] = []
    let rows = 0
    for (const [object, logged] of this.#logged) {
      if (this.#options.removed.has(object)) continue
      const found = this.#found.get(object) ?? 0
      rows += found
      if (found < logged) missing.push({ object, logged, found })
    }
    const counts = {
      objects: this.#found.size,
      rows,
      transactions: this.#transactions,
      lastTransaction: this.#last,
    }
    return { counts, missing }
  }

  #add(object: number, version: RowKey, view: RowView): void {
    const { previous, paginationKey, isTombstone: isDeleted, transaction } = view
    const id = JSON.parse(view.fieldText('id') ?? '""') as string
    const hash = fullHash(object, hashId(id))
    this.#ids.put(object, id, hash, { version, paginationKey, isDeleted }, false)
    this.#unstoredIds++
    this.#options.onRow?.(object, id)
    this.#fieldPaths.addOf(object, view)
    add(this.#found, object, 1)
    // A record that begins anew after it was deleted names the deletion, which supersedes nothing.
    if (!previous || isSame(paginationKey, version)) return
    // Versions come in the order of their transactions. Of one that was removed for good there is no mark.
    if (!this.#stored.has(object, previous)) return
    const mark = supersessionKey(object, paginationKey, previous)
    this.#records.supersessions.putSync(mark, transactionKey(transaction))
    this.#superseded.set(object, Math.max(transaction, this.#superseded.get(object) ?? 0))
  }

  #storeIds(): void {
    this.#ids.store()
    this.#unstoredIds = 0
  }
}

function isSame(a: RowKey, b: RowKey): boolean {
  return a.transaction === b.transaction && a.index === b.index
}

function add(counts: Map<number, number>, object: number, count: number): void {
  counts.set(object, (counts.get(object) ?? 0) + count)
}
