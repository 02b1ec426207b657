/** Writes what another data directory has committed since, in the form that backups have. */
import { AssayError, type WireError } from '../../error.ts'
import type { RecordsEnvironment } from '../environment.ts'
import { storageError } from '../storage-error.ts'
import { RecordsRestore } from './restore-records.ts'

/** All of a range of transactions, which begins behind the last one that was copied. */
export interface CopiedRecords {
  readonly log: Uint8Array
  readonly rows: readonly Uint8Array[]
}

export interface CopyTask {
  readonly kind: 'copy'
  readonly copied: CopiedRecords
}

/** Records that have new versions: the number of their object, and their ids. */
export type CopiedIds = readonly (readonly [object: number, id: string])[]

export type CopyOutcome = { readonly ids: CopiedIds } | { readonly error: WireError }

const endOfTime = 2 ** 48 - 2

export class RecordCopies {
  readonly #records: RecordsEnvironment
  #restore: RecordsRestore | undefined
  #ids: [number, string][] = []

  /** @param records open for writing, in which nobody else writes records */
  constructor(records: RecordsEnvironment) {
    this.#records = records
  }

  /** Writes all of it in one commit, which is on disk when this returns, or nothing. */
  write({ log, rows }: CopiedRecords): CopyOutcome {
    this.#ids = []
    try {
      this.#records.root.transactionSync(() => {
        this.#restore ??= new RecordsRestore(this.#records, {
          through: endOfTime,
          removed: new Set(),
          onRow: (object, id) => void this.#ids.push([object, id]),
        })
        for (const list of rows) this.#restore.writeRows(Buffer.from(list))
        this.#restore.writeLog(Buffer.from(log))
        this.#restore.finish()
      })
      return { ids: this.#ids }
    } catch (thrown) {
      // What it knows of ids was not written.
      this.#restore = undefined
      return { error: asError(thrown, this.#records.directory).toWire() }
    } finally {
      this.#ids = []
    }
  }
}

function asError(thrown: unknown, directory: string): AssayError {
  return thrown instanceof AssayError ? thrown : storageError('the records', thrown, directory)
}
