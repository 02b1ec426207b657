/**
 * Exports what was committed to ClickHouse, behind everything else: in a thread of its own, which reads what the writer has
 * written, and which nobody waits for.
 */
import type { Catalog } from '../../catalog/catalog.ts'
import { readExportState, targetOf } from '../../clickhouse/export-state.ts'
import type { ExportStatus, ExportStep } from '../../clickhouse/export-step.ts'
import type { ClickHouseSettings } from '../../clickhouse/settings.ts'
import { AssayError } from '../../error.ts'
import { openThreads, type Threads } from '../thread/threads.ts'
import { Backfill, type BackfillProgress } from './backfill.ts'
import { ExportedObjects } from './exported-objects.ts'
import { NotedWrites } from './noted-writes.ts'

interface ExportLogger {
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

export interface ExportOptions {
  readonly directory: string
  readonly settings: ClickHouseSettings
  readonly catalog: Catalog
  /** The newest transaction whose objects the catalog has. */
  readonly lastTransaction: () => number
  readonly logger: ExportLogger | undefined
}

/** `waiting`: something keeps it from going on, which is tried again. */
export type ExportState = 'starting' | 'exporting' | 'current' | 'waiting'

export interface ExportSummary {
  readonly state: ExportState
  readonly database: string
  /** All transactions up to this one have arrived; 0: none. */
  readonly through: number
  readonly lag: { readonly transactions: number; readonly rows: number; readonly seconds: number }
  readonly sent: { readonly rows: number; readonly bytes: number }
  readonly retries: number
  /** Undefined while few rows are left. */
  readonly backfill: BackfillProgress | undefined
  readonly fault:
    | { readonly kind: string; readonly message: string; readonly since: number }
    | undefined
}

/** Whoever waits until transactions were compared. */
interface Verifying {
  readonly through: number
  readonly resolve: () => void
  readonly reject: (error: AssayError) => void
}

/** What comes within this is sent together. */
const gatherMs = 100
const firstRetryMs = 250
const lastRetryMs = 10_000
/** Of a thread that has nothing to do, to see whether the database is still its own. */
const idleMs = 10_000
const heapBytes = 512 * 2 ** 20
const tellEveryMs = 60_000

const nothing: ExportStatus = {
  through: 0,
  runThrough: 0,
  purged: 0,
  verified: { through: 0, difference: undefined },
  needsObjects: false,
  round: 1,
  noted: 0,
  arrived: 0,
  roundId: '',
  transactions: 0,
  rows: 0,
  seconds: 0,
  counted: 0,
  sentRows: 0,
  sentBytes: 0,
  fault: undefined,
}

export class ExportLoop {
  readonly #options: ExportOptions
  readonly #objects: ExportedObjects
  readonly #thread: Threads
  readonly #isClosing = new Int32Array(new SharedArrayBuffer(4))
  readonly #work: Promise<void>
  #status = nothing
  #isStarted = false
  readonly #noted = new NotedWrites()
  #statusAt = performance.now()
  #fault: ExportSummary['fault']
  #retries = 0
  /** Ends a pause: that of who has nothing to do, and any. */
  #wake: (() => void) | undefined
  #endPause: (() => void) | undefined
  #toldAt = performance.now()
  readonly #backfill = new Backfill()
  #verifying: Verifying | undefined

  constructor(options: ExportOptions) {
    const { directory, settings, catalog } = options
    this.#options = options
    // What was removed, which export is read and what it has is known before the nodes were asked.
    const known = readExportState(directory, targetOf(settings))
    const { purged = 0, roundId = '', noted: arrived = 0 } = known ?? {}
    this.#status = { ...nothing, purged, roundId, arrived }
    this.#objects = new ExportedObjects(catalog, () => this.#wake?.())
    const data = { directory, settings, isClosing: this.#isClosing }
    this.#thread = openThreads('export', { data, least: 1, most: 1, heapBytes })
    this.#work = this.#run()
  }

  /** Tells of a commit. */
  noteWrite(transaction: number, rows: number): void {
    this.#noted.add(transaction, rows)
    this.#wake?.()
  }

  /** Tells that rows were removed. */
  notePurge(): void {
    this.#wake?.()
  }

  /** All transactions up to this one have arrived; 0: none. */
  get through(): number {
    return this.#status.through
  }

  /** Up to which transaction nodes are asked for rows, of which export. */
  get noted(): { readonly through: number; readonly round: string } {
    const { noted, roundId } = this.#status
    return { through: noted, round: roundId }
  }

  /** Up to which transaction nodes may be taken to have all: they say so, or else that they are behind, whenever they are asked. */
  get arrived(): number {
    return this.#status.arrived
  }

  /** See `ExportStatus`. */
  get purged(): number {
    return this.#status.purged
  }

  /** Resolves once the nodes were found to have just what is here, up to the transaction. One at a time. */
  verify(through: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#verifying = { through, resolve, reject }
      this.#endPause?.()
    })
  }

  #noteVerified({ verified: { through, difference } }: ExportStatus): void {
    const verifying = this.#verifying
    if (!verifying || (through < verifying.through && difference === undefined)) return
    this.#verifying = undefined
    if (through >= verifying.through) verifying.resolve()
    else verifying.reject(new AssayError('BACKEND_FAILED', difference!))
  }

  get summary(): ExportSummary {
    const { through, transactions, rows, seconds, sentRows, sentBytes } = this.#status
    const noted = this.#noted.sum
    const isBehind = transactions + noted.transactions > 0
    const sinceStatus = (performance.now() - this.#statusAt) / 1000
    const waited = transactions > 0 ? seconds + sinceStatus : this.#noted.seconds
    return {
      state: this.#state(isBehind),
      database: this.#options.settings.database,
      through,
      lag: {
        transactions: transactions + noted.transactions,
        rows: rows + noted.rows,
        seconds: isBehind ? Math.round(waited) : 0,
      },
      sent: { rows: sentRows, bytes: sentBytes },
      retries: this.#retries,
      backfill: this.#backfill.progress,
      fault: this.#fault,
    }
  }

  /** Ends what is under way: it is tried again after the next start. */
  async close(): Promise<void> {
    Atomics.store(this.#isClosing, 0, 1)
    this.#objects.close()
    this.#endPause?.()
    this.#verifying?.reject(new AssayError('STORAGE_UNAVAILABLE', 'the export is closed'))
    this.#verifying = undefined
    await this.#work
    // Of one that could not be opened there is nothing to close.
    await this.#thread.run(undefined, { name: 'close' }).catch(() => undefined)
    await this.#thread.destroy()
  }

  get #isClosed(): boolean {
    return Atomics.load(this.#isClosing, 0) === 1
  }

  #state(isBehind: boolean): ExportState {
    if (this.#fault) return 'waiting'
    if (!this.#isStarted) return 'starting'
    return isBehind ? 'exporting' : 'current'
  }

  async #run(): Promise<void> {
    let retryMs = firstRetryMs
    while (!this.#isClosed) {
      const status = await this.#step()
      if (this.#isClosed) return
      this.#note(status)
      if (status.fault) {
        await this.#pause(retryMs * (0.75 + Math.random() / 2), false)
        retryMs = Math.min(lastRetryMs, retryMs * 2)
        continue
      }
      retryMs = firstRetryMs
      const isCurrent = status.transactions === 0 && this.#objects.isEmpty
      if (isCurrent && !this.#isAhead(status) && !this.#verifying) await this.#pause(idleMs, true)
      if (isCurrent) await this.#pause(gatherMs, false)
    }
  }

  async #step(): Promise<ExportStatus> {
    const step: ExportStep = {
      ...this.#objects.take(),
      through: this.#options.lastTransaction(),
      verify: this.#verifying?.through,
    }
    try {
      const status = (await this.#thread.run(step)) as ExportStatus
      // Another thread has taken the place of one that ended.
      if (status.needsObjects) this.#objects.forget()
      return status
    } catch (thrown) {
      // What is thrown in place of a status is about the thread; the next step gets a new one.
      this.#objects.forget()
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      return { ...this.#status, fault: { kind: 'failed', message } }
    }
  }

  #note(status: ExportStatus): void {
    const { logger, settings } = this.#options
    const { database } = settings
    const before = this.#fault
    if (status.fault) {
      const { kind, message } = status.fault
      const since = before?.since ?? Date.now()
      if (before?.kind !== kind) {
        logger?.warn(
          { database, fault: kind },
          `the export to ClickHouse waits, and is tried again: ${message}`,
        )
      }
      if (before) this.#retries++
      this.#fault = { kind, message, since }
    } else if (before) {
      const seconds = Math.round((Date.now() - before.since) / 1000)
      logger?.info({ database, seconds }, 'the export to ClickHouse goes on')
      this.#fault = undefined
    }
    if (status.round > this.#status.round && this.#isStarted) {
      logger?.warn({ database }, 'the tables in ClickHouse were gone: everything is exported again')
    }
    this.#status = status
    this.#statusAt = performance.now()
    this.#noted.counted(status.counted)
    this.#isStarted ||= !status.fault
    this.#noteVerified(status)
    if (!status.fault) this.#tell(status)
  }

  /** Whether something was committed that the status does not count. */
  #isAhead({ counted }: ExportStatus): boolean {
    return this.#options.lastTransaction() > counted
  }

  /** Of an export that takes long, now and then. */
  #tell(status: ExportStatus): void {
    const { logger, settings } = this.#options
    const { database } = settings
    const { rows, transactions } = status
    const now = performance.now()
    const turn = this.#backfill.update(status, now)
    if (turn === 'ended') logger?.info({ database }, 'ClickHouse has all rows')
    else if (turn === 'begun' || (this.#backfill.progress && now - this.#toldAt > tellEveryMs)) {
      logger?.info({ database, rows, transactions }, 'rows are to be exported to ClickHouse')
      this.#toldAt = now
    }
  }

  #pause(milliseconds: number, isWoken: boolean): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(), milliseconds)
      const end = () => {
        clearTimeout(timer)
        this.#wake = undefined
        this.#endPause = undefined
        resolve()
      }
      // Who only waits for it would else be the end of the process.
      if (!this.#verifying) timer.unref()
      this.#wake = isWoken ? end : undefined
      this.#endPause = end
    })
  }
}
