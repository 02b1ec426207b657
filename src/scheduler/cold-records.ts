/**
 * Records that a cluster has: what of a snapshot is read there, and which bodies leave the data directory, since they were
 * found to be there just as they are here.
 */
import { setTimeout } from 'node:timers/promises'
import { targetOf } from '../clickhouse/export-state.ts'
import type { ClickHouseSettings } from '../clickhouse/settings.ts'
import { AssayError, type EvictedVersion } from '../error.ts'
import type { RecordsEnvironment } from '../storage/environment.ts'
import { type EvictedMark, readEvictedMark } from '../storage/read/evicted-mark.ts'
import { mayHaveSuperseded, type SupersedingRange } from '../storage/read/superseded-rows.ts'
import type { TaskReads } from '../storage/read/task-reads.ts'
import { ColdReader, type ColdView, coldViewAt } from './cold/cold-view.ts'
import type { ExportedRecords, ToldExport } from './cold/exported-records.ts'
import { ColdRows, type HotLimits } from './cold/hot-limits.ts'
import { bodiesOf } from './cold/lent-rows.ts'
import type { Logger } from './engine-options.ts'
import type { Maintenance } from './maintenance/maintenance.ts'

export interface ColdRecordsOptions {
  readonly clickhouse: ClickHouseSettings
  readonly hot: HotLimits | undefined
  readonly records: RecordsEnvironment
  readonly reads: TaskReads
  readonly maintenance: Maintenance
  readonly exported: ExportedRecords
  readonly now: () => number
  /** What bodies that one write needs may take. */
  readonly budgetBytes: number
  /** Whether bodies leave without being asked. */
  readonly isAutomatic: boolean
  readonly logger: Logger | undefined
}

/** Where the bodies of records are. */
export interface ColdStatus {
  /** Bodies up to this transaction have left, or do so now; 0: none. */
  readonly through: number
  /** Row versions whose bodies a cluster alone has. */
  readonly rows: number
  /** By so much the row store is smaller since. */
  readonly bytes: number
  /** Why no more leave, although they are older than hot. */
  readonly fault: string | undefined
  /** For services that follow this one. */
  readonly told: ToldExport
}

/** Segments are written anew for it, so that it is not worth while for a few rows: these many, or as often. */
const worthwhileBytes = 64 * 2 ** 20
const worthwhileMs = 3600_000
const lookEveryMs = 30_000
/** What of the log a query looks at, of what has not arrived yet. */
const mostMarks = 2000
/** Nodes remove rows within seconds. */
const longestRemovalMs = 30_000
const lookAtRemovalMs = 50

/** The mark of a data directory whose records cannot all be read without its cluster. Throws CONFIG_INVALID without that. */
export function requireCluster(
  records: RecordsEnvironment,
  clickhouse: ClickHouseSettings | undefined,
): void {
  const mark = readEvictedMark(records.progress)
  if (!mark || (clickhouse && targetOf(clickhouse) === mark.database)) return
  throw new AssayError(
    'CONFIG_INVALID',
    `older records of ${records.directory} are in ClickHouse alone, in ${mark.database}`,
    {
      hint: 'start with the same --clickhouse, --clickhouse-cluster and --clickhouse-database as before',
    },
  )
}

export class ColdRecords {
  readonly #options: ColdRecordsOptions
  readonly #reader: ColdReader
  readonly #rows: ColdRows
  readonly #closing = new AbortController()
  readonly #timer: NodeJS.Timeout | undefined
  #mark: EvictedMark | undefined
  #work: Promise<void> | undefined
  #evictedAt = performance.now()
  #fault: string | undefined

  constructor(options: ColdRecordsOptions) {
    this.#options = options
    const { clickhouse, hot, records, reads, maintenance, exported, now } = options
    this.#reader = new ColdReader(clickhouse)
    this.#mark = readEvictedMark(records.progress)
    this.#rows = new ColdRows({
      hot,
      exportedThrough: () => exported.through,
      hasRemoved: () => exported.removing.size > 0,
      evictedThrough: () => this.#mark?.through ?? 0,
      manifest: () => maintenance.manifest,
      snapshotAt: (transaction) => {
        return reads.during(({ records }) => records.snapshotAt(transaction))
      },
      now,
    })
    if (this.#mark && this.#mark.done < this.#mark.through) this.#resume()
    if (hot && options.isAutomatic) {
      this.#timer = setInterval(() => this.#evictIfWorthwhile(), lookEveryMs).unref()
    }
  }

  /** What of a snapshot is read of the cluster. */
  viewAt(snapshot: { readonly transaction: number; readonly since: number }): ColdView | undefined {
    const { reads, exported } = this.#options
    const { arrived, round } = exported
    const firstOf = (object: number) =>
      reads.during(({ records }) => {
        for (const { transaction } of records.partsOf(object)) return transaction
        return undefined
      })
    const mayEnd = (object: number, range: SupersedingRange) =>
      reads.during(({ records }) => mayHaveSuperseded(records, object, range, mostMarks))
    return coldViewAt(
      { through: this.#rows.through, arrived, round },
      this.#reader,
      { firstOf, mayEnd },
      snapshot,
      exported.removing,
    )
  }

  /**
   * Resolves once the nodes have removed what was removed of these objects here: until then nothing of theirs can be read that
   * the nodes alone have. If they take too long, whoever reads is told.
   */
  async removedThere(objects: readonly number[]): Promise<void> {
    const end = performance.now() + longestRemovalMs
    const isUnderWay = () => {
      const { removing } = this.#options.exported
      return objects.some((object) => removing.has(object))
    }
    while (this.#mark && isUnderWay() && performance.now() < end) {
      if (this.#closing.signal.aborted) return
      await setTimeout(lookAtRemovalMs)
    }
  }

  /** Bodies that have left the data directory, for who needs them here. */
  bodiesOf(evicted: readonly EvictedVersion[]): Promise<readonly SharedArrayBuffer[]> {
    const cold = {
      exportedThrough: Math.max(this.#mark?.through ?? 0, this.#options.exported.evictedThere),
      round: this.#options.exported.round,
      reader: this.#reader,
    }
    return bodiesOf(evicted, cold, this.#closing.signal, this.#options.budgetBytes)
  }

  get status(): ColdStatus {
    // Millions of bodies take minutes to leave.
    if (this.#work) this.#readMark()
    const { through = 0, rows = 0, bytes = 0 } = this.#mark ?? {}
    const { arrived, round, removing } = this.#options.exported
    const told = { evicted: through, arrived, round, removing: [...removing] }
    return { through, rows, bytes, fault: this.#fault, told }
  }

  /** Resolves when the bodies of all that is not hot, flushed and the same on the cluster have left. */
  async evict(): Promise<void> {
    const { clickhouse, maintenance, exported } = this.#options
    await this.#work
    const through = this.#evictable()
    if (through <= (this.#mark?.through ?? 0)) return
    await exported.verify(through)
    await maintenance.eviction.evict(through, targetOf(clickhouse), () => this.#readMark())
    this.#evictedAt = performance.now()
    this.#readMark()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#reader.close()
  }

  #evictable(): number {
    const { reads, maintenance } = this.#options
    const through = Math.min(this.#rows.beyondHot, maintenance.manifest.flushedThrough)
    return reads.during(({ records }) => records.snapshotAt(through))
  }

  #readMark(): void {
    const { reads, records } = this.#options
    this.#mark = reads.during(() => readEvictedMark(records.progress))
  }

  #evictIfWorthwhile(): void {
    if (this.#work || this.#closing.signal.aborted) return
    const through = this.#evictable()
    if (through <= (this.#mark?.through ?? 0)) return
    const isLate = performance.now() - this.#evictedAt > worthwhileMs
    if (isLate || this.#isMuch(through)) this.#begin(() => this.evict())
  }

  #isMuch(through: number): boolean {
    return this.#options.reads.during(({ records }) => {
      let bytes = 0
      for (const { objects } of records.log(this.#mark?.through ?? 0, through)) {
        for (const object of objects) bytes += object.bytes
        if (bytes >= worthwhileBytes) return true
      }
      return false
    })
  }

  /** What a process before has begun. */
  #resume(): void {
    this.#begin(async () => {
      await this.#options.maintenance.eviction.finish()
      this.#readMark()
    })
  }

  #begin(work: () => Promise<void>): void {
    const done = async () => {
      try {
        await work()
        this.#fault = undefined
      } catch (thrown) {
        if (this.#closing.signal.aborted) return
        const message = thrown instanceof Error ? thrown.message : String(thrown)
        if (message !== this.#fault) {
          const told = 'older records stay in the data directory for now'
          this.#options.logger?.warn({ err: thrown }, told)
        }
        this.#fault = message
      }
    }
    this.#work = done().finally(() => {
      this.#work = undefined
    })
  }
}
