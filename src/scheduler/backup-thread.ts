/** The thread that reads for backups, which is started with the first question. */

import { AssayError } from '../error.ts'
import type { BackupAnswer, BackupTask } from '../storage/backup/backup-task.ts'
import type { CatalogPiece } from '../storage/backup/read-catalog.ts'
import type { IdsKept, KeptEntries, KeptPiece } from '../storage/backup/read-kept.ts'
import type {
  LogPiece,
  LogState,
  RowPlace,
  RowsPiece,
  TransactionRange,
} from '../storage/backup/read-rows.ts'
import type { EvictedMark } from '../storage/read/evicted-mark.ts'
import { type BodiesOf, withBodies } from '../storage/row/with-bodies.ts'
import { openThreads, type Threads } from './thread/threads.ts'

function rowsIn(answer: BackupAnswer): RowsPiece {
  return (answer as { readonly rows: RowsPiece }).rows
}

function keptIn(answer: BackupAnswer): KeptPiece {
  return (answer as { readonly kept: KeptPiece }).kept
}

/** Questions are answered one at a time, each in some ten milliseconds. */
export class BackupThread {
  readonly #open: () => Threads
  #thread: Threads | undefined
  /** Reads bodies that a cluster alone has; undefined where there is none. */
  bodiesOf: BodiesOf | undefined

  /** @param runningTasks see `storage/give-way.ts` */
  constructor(directory: string, runningTasks: Int32Array) {
    const data = { directory, runningTasks }
    this.#open = () => openThreads('backup', { data, least: 1, most: 1 })
  }

  /** See `BackupReader.rows`. What a cluster alone has is fetched, unless what is kept of it here will do. */
  async rows(
    range: TransactionRange,
    from: RowPlace | undefined,
    bytes: number,
    isKeptEnough = false,
  ): Promise<RowsPiece> {
    const task = { kind: 'rows', range, from, bytes } as const
    if (isKeptEnough) return rowsIn(await this.#ask(task))
    return withBodies(async (lent) => rowsIn(await this.#ask({ ...task, lent })), this.bodiesOf)
  }

  /** See `filledRows`. */
  async filled(list: Uint8Array): Promise<Uint8Array> {
    return withBodies(async (lent) => {
      const answer = await this.#ask({ kind: 'fill', list, lent })
      return (answer as { readonly list: Uint8Array }).list
    }, this.bodiesOf)
  }

  /** See `BackupReader.log`. */
  async log(range: TransactionRange, bytes: number) {
    const answer = await this.#ask({ kind: 'log', range, bytes })
    return (answer as { readonly log: LogPiece }).log
  }

  /** See `BackupReader.logState`. */
  async logState(transaction: number) {
    const answer = await this.#ask({ kind: 'state', transaction })
    return (answer as { readonly state: LogState }).state
  }

  /** See `LogDigest`. */
  async logDigest(range: TransactionRange) {
    const answer = await this.#ask({ kind: 'digest', range })
    return (answer as { readonly digest: string }).digest
  }

  /** How far bodies have left the data directory. */
  async evicted() {
    const answer = await this.#ask({ kind: 'evicted' })
    return (answer as { readonly evicted: EvictedMark | undefined }).evicted
  }

  /** See `idsKept`. */
  async ids() {
    const answer = await this.#ask({ kind: 'ids' })
    return (answer as { readonly ids: IdsKept }).ids
  }

  /** See `idRunPiece`. */
  async idRuns(runs: readonly number[], after: string | undefined, bytes: number) {
    return keptIn(await this.#ask({ kind: 'id runs', runs, after, bytes }))
  }

  /** See `entryPiece`. */
  async entries(of: KeptEntries, after: string | undefined, bytes: number) {
    return keptIn(await this.#ask({ kind: 'entries', of, after, bytes }))
  }

  /** See `readCatalog`. */
  async catalog(known: readonly string[], bytes: number, hasSecrets: boolean) {
    const answer = await this.#ask({ kind: 'catalog', known, bytes, hasSecrets })
    return (answer as { readonly catalog: CatalogPiece }).catalog
  }

  async close(): Promise<void> {
    await this.#thread?.destroy()
  }

  async #ask(task: BackupTask): Promise<BackupAnswer> {
    this.#thread ??= this.#open()
    const answer = (await this.#thread.run(task)) as BackupAnswer
    if ('error' in answer) throw AssayError.fromWire(answer.error)
    return answer
  }
}
