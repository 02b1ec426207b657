/**
 * Writes what another data directory keeps of records whose bodies have left it into an empty one, up to the transaction that
 * they have left through. The bodies are read of the same cluster from then on.
 */
import { rowKey } from '../../type/transaction.ts'
import { evictedFormat, writeFormat } from '../directory/data-format.ts'
import {
  closeSegments,
  openSegments,
  type RecordDatabase,
  type RecordsEnvironment,
} from '../environment.ts'
import { chunksUpTo, runOf } from '../id/id-run.ts'
import { writeRunList } from '../id/id-run-list.ts'
import { type EvictedMark, putEvictedMark } from '../read/evicted-mark.ts'
import {
  decodeCurrentVersion,
  lastSupersessionKey,
  objectOf,
  transactionKey,
  transactionOf,
} from '../record-key.ts'
import { SegmentStore } from '../segment/segment-store.ts'
import { cutRows } from './cut-rows.ts'
import { entriesOf } from './entry-list.ts'
import type { IdsKept } from './read-kept.ts'

/** In the other directory each was checked when it was written. */
const allChecked = { transaction: 0, run: 0 }

export class KeptRestore {
  readonly #records: RecordsEnvironment
  readonly #mark: EvictedMark
  /** Of the runs that were written. */
  readonly #entries = new Map<number, number>()
  /** Of each object, the last transaction that has superseded something. */
  readonly #superseded = new Map<number, number>()

  /**
   * @param records open for writing, with nothing in it
   * @param mark of the other directory, before anything else was read of it
   */
  constructor(records: RecordsEnvironment, mark: EvictedMark) {
    this.#records = records
    this.#mark = mark
  }

  writeLog(list: Buffer): void {
    this.#put(this.#records.log, list)
  }

  /** Returns how many row versions these are. Throws STORAGE_CORRUPT at one that came damaged. */
  writeRows(list: Buffer): number {
    const { root, rows } = this.#records
    const range = { from: rowKey(0, 0), to: rowKey(this.#mark.through + 1, 0) }
    let count = 0
    root.transactionSync(() => {
      for (const { key, value } of entriesOf(list)) {
        const cut = cutRows(key, value, range, allChecked)
        if (!cut) continue
        rows.putSync(cut.key, Buffer.from(cut.value))
        count += cut.rows
      }
    })
    return count
  }

  /** What later transactions have superseded comes with these. */
  writeSupersessions(list: Buffer): void {
    const { root, supersessions } = this.#records
    root.transactionSync(() => {
      for (const { key, value } of entriesOf(list)) {
        const transaction = transactionOf(value)
        if (transaction > this.#mark.through) continue
        supersessions.putSync(key, value)
        const object = objectOf(key)
        this.#superseded.set(object, Math.max(transaction, this.#superseded.get(object) ?? 0))
      }
    })
  }

  /** Runs of ids keep their numbers. What is newer than the rows comes with them. */
  writeIdRuns(list: Buffer): void {
    const { root, idRuns } = this.#records
    root.transactionSync(() => {
      for (const { key, value } of entriesOf(list)) {
        const run = runOf(key)
        for (const chunk of chunksUpTo({ key, value }, this.#mark.through)) {
          idRuns.putSync(chunk.key, chunk.value)
          this.#entries.set(run, (this.#entries.get(run) ?? 0) + chunk.entries)
        }
      }
    })
  }

  writeFieldPaths(list: Buffer): void {
    this.#put(this.#records.fieldPaths, list)
  }

  /** @param ids of which all runs were written */
  finish({ runs, next, list }: IdsKept): void {
    const { root, ids, progress, directory } = this.#records
    writeFormat(directory, evictedFormat)
    root.transactionSync(() => {
      for (const { key, value } of entriesOf(list)) {
        const { version } = decodeCurrentVersion(value)
        if (version.transaction <= this.#mark.through) ids.putSync(key, value)
      }
      const written = runs.map(({ id }) => ({ id, entries: this.#entries.get(id) ?? 0 }))
      writeRunList(progress, { next, runs: written.filter(({ entries }) => entries > 0) })
      for (const [object, last] of this.#superseded) {
        progress.putSync(lastSupersessionKey(object), transactionKey(last))
      }
      putEvictedMark(progress, { ...this.#mark, next: undefined })
    })
    root.resetReadTxn()
  }

  /** No row is to be put into a segment. To be called once `finish` has returned. */
  async noteFlushed(): Promise<void> {
    const segments = openSegments(this.#records.directory, { readOnly: false })
    try {
      const store = new SegmentStore(segments)
      const manifest = store.manifest()
      store.commit(manifest, { ...manifest, flushedThrough: this.#mark.through }, undefined)
    } finally {
      await closeSegments(segments)
    }
  }

  #put(database: RecordDatabase, list: Buffer): void {
    this.#records.root.transactionSync(() => {
      for (const { key, value } of entriesOf(list)) database.putSync(key, value)
    })
  }
}
