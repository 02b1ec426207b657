/**
 * What first queries would pay for, done while nobody asks for anything. It runs typical queries, after a start or once the first rows are in a segment:
 * JavaScript is interpreted at first and compiled as it is used, in each thread for itself, so that without it the
 * first hundreds of queries take several times as long as later ones. They read what is stored, by the ways that all
 * queries go, and their answers are dropped; no statistics, limits or logs know of them.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { CatalogView } from '../catalog/catalog.ts'
import type { RowForm } from '../executor/print/row-form.ts'
import type { PriceTable } from '../function/prices.ts'
import type { TaskReads } from '../storage/read/task-reads.ts'
import type { Manifest } from '../storage/segment/manifest.ts'
import {
  isSupersededWhole,
  type ObjectRows,
  type SegmentMetadata,
} from '../storage/segment/metadata.ts'
import { textAt } from '../vector/read-column.ts'
import type { QueryLimits } from './admission/query-limits.ts'
import { InlineAnswers } from './inline-answers.ts'
import { FreshSnapshot } from './maintenance/fresh-rows.ts'
import type { Maintenance } from './maintenance/maintenance.ts'
import { QueryPlans } from './query-plans.ts'
import { QueryRunner } from './query-runner.ts'
import { AuditLog } from './scan/audit-log.ts'
import type { QuerySnapshot } from './scan/snapshot.ts'
import type { QueryPool } from './thread/query-pool.ts'
import { typicalQueries } from './typical-queries.ts'
import { Upkeep } from './upkeep.ts'

export interface WarmUpOptions {
  /** That its queries may take together. */
  readonly seconds: number
  readonly maintenance: Maintenance
  readonly reads: TaskReads
  readonly pool: QueryPool
  readonly limits: QueryLimits
  readonly now: () => number
  readonly prices: PriceTable | undefined
}

/** After a request it waits for so long without one. */
const quietMs = 500

/** When so many queries were asked by others, these have done its work. */
const enoughQueries = 1000

/** Rows of which the main thread answers queries itself, such that workers share, and some of each segment. */
const rowCounts = { inline: 4000, shared: 40_000, ofEach: 1000 }

/** The part of all rows in new segments from which on these are asked. */
const fewestNew = 1 / 4

type Segments = QuerySnapshot['segments']

/** Queries that may wait for threads which have just been started. */
const startingQueries = 4

const form: RowForm = { kind: 'json', separator: ',\n' }

export class WarmUp {
  #lastRequest = Number.NEGATIVE_INFINITY
  #queries = 0
  readonly #stopping = new AbortController()
  readonly #upkeep = new Upkeep()
  #running: Promise<number> = Promise.resolve(0)
  #keptUp: Promise<void> = Promise.resolve()

  /** Must be called when somebody asks for something, or writes. */
  noteRequest(): void {
    this.#lastRequest = performance.now()
    this.#upkeep.giveWay()
  }

  /** Must be called when there are other segments. */
  noteSegments(): void {
    this.#upkeep.noteSegments()
  }

  /** Must be called for each query of somebody. */
  noteQuery(): void {
    this.#queries++
    this.noteRequest()
  }

  /**
   * Resolves with the number of queries that were run, once the time is over, or others have asked enough. It waits
   * until there are segments. Rejects when one cannot be read. From then on it keeps up with new segments.
   */
  start(options: WarmUpOptions): Promise<number> {
    this.#running = this.#run(options)
    this.#keptUp = this.#running
      .then(() => this.#keepUp(options))
      // Queries do it themselves, and tell what cannot be read.
      .catch(() => undefined)
    return this.#running
  }

  /** Makes shared dictionaries, and asks each query of new segments once where these have much of all rows. */
  #keepUp(options: WarmUpOptions): Promise<void> {
    const { maintenance, pool, reads } = options
    const ask = asking(options, this.#stopping.signal)
    const known = new Set<string>()
    const work = async ({ segments }: Manifest, cancelled: Int32Array) => {
      await pool.dictionaries.prepare(segments, cancelled)
      const added = segments.filter((segment) => !known.has(stateOf(segment)))
      if (rowsIn(added) < rowsIn(segments) * fewestNew) return
      const stored = storedBy(added, reads)
      for (const [i, query] of stored?.queries.entries() ?? []) {
        await this.#pause(0)
        if (Atomics.load(cancelled, 0) !== 0) return
        // Names may not suit the fields that there are.
        await ask(query(i), stored!.snapshots.at(-1)!).catch(() => undefined)
      }
      known.clear()
      for (const segment of segments) known.add(stateOf(segment))
    }
    return this.#upkeep.run(maintenance, work, () => this.#quiet())
  }

  /** Resolves when nothing of it runs any more. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#upkeep.stop()
    // Whoever began it has been told why it failed.
    await this.#running.catch(() => undefined)
    await this.#keptUp
  }

  async #quiet(): Promise<void> {
    while (!this.#isQuiet && !this.#stopping.signal.aborted) await this.#pause(quietMs)
  }

  async #run(options: WarmUpOptions): Promise<number> {
    const ask = asking(options, this.#stopping.signal)
    // Queries whose names do not suit the fields that there are.
    const unfit = new Set<number>()
    let [asked, spentMs] = [0, 0]
    const isOver = () =>
      this.#stopping.signal.aborted ||
      spentMs > options.seconds * 1000 ||
      this.#queries >= enoughQueries
    for (let round = 0; ; round++) {
      const stored = await this.#acquire(options, isOver)
      if (!stored) return asked
      try {
        const { queries, snapshots } = stored
        for (const [i, query] of queries.entries()) {
          if (unfit.has(i)) continue
          // The event loop turns, so that requests come before the next query.
          await this.#pause(0)
          if (isOver()) return asked
          // Segments are not kept while others go first, which may be for hours.
          if (!this.#isQuiet) break
          const begun = performance.now()
          try {
            await ask(query(asked), snapshots[(round + i) % snapshots.length]!)
            asked++
          } catch {
            unfit.add(i)
          }
          // The first ones wait for threads to start.
          if (asked > startingQueries) spentMs += performance.now() - begun
        }
        if (unfit.size === queries.length) return asked
      } finally {
        stored.release()
      }
    }
  }

  get #isQuiet(): boolean {
    return performance.now() - this.#lastRequest >= quietMs
  }

  /** Shorter where it is stopped meanwhile. */
  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopping
    await wait(ms, undefined, { signal, ref: false }).catch(() => undefined)
  }

  /** What queries read in a round, as soon as there is something; undefined when it is over before. */
  async #acquire({ maintenance, reads }: WarmUpOptions, isOver: () => boolean) {
    for (; !isOver(); await this.#pause(quietMs)) {
      if (!this.#isQuiet) continue
      const { manifest, release } = maintenance.acquire()
      try {
        const stored = storedBy(manifest.segments, reads)
        if (stored) return { ...stored, release }
      } catch (thrown) {
        release()
        throw thrown
      }
      release()
    }
    return
  }
}

/** Runs a query over a snapshot, as it would be for those who ask, and drops what it answers. */
function asking(
  { reads, pool, limits, now, prices }: WarmUpOptions,
  stopping: AbortSignal,
): (query: string, snapshot: QuerySnapshot) => Promise<void> {
  const quietLimits = { ...limits, keptAnswersBytes: 0, slowMs: undefined }
  const plans = new QueryPlans({ reads, now, prices })
  const runner = new QueryRunner(pool, quietLimits, undefined)
  const inline = new InlineAnswers({ runner, reads, pool, limits: quietLimits })
  return async (query, snapshot) => {
    const { object } = snapshot.segments[0]!.metadata.objects[0]!
    const audit = new AuditLog(false)
    const { planned, context } = plans.plan({ query, view: viewOf(object) }, audit)
    const { physical, family } = planned
    const asked = { physical, context, form, owner: undefined, text: query }
    const { transaction } = snapshot
    const answer = inline.answer({ ...asked, family, transaction, isNewest: true }, () => snapshot)
    if (!('snapshot' in answer)) return
    const run = { ...asked, ...answer, id: '', audit }
    const nobody = { timeoutSeconds: undefined, signal: undefined, onProgress: undefined }
    for await (const _ of runner.run({ ...run, ...nobody })) if (stopping.aborted) break
  }
}

/** Queries of the fields that the newest segment has, and rows for them; undefined where there are none. */
function storedBy(all: Segments, reads: TaskReads) {
  const segments = all.filter(({ metadata }) => !isSupersededWhole(metadata))
  const newest = segments.at(-1)
  const part = newest && largestPart(newest.metadata)
  if (!newest || !part) return
  const queries = typicalQueries(newest.metadata, idsOf(reads, newest.id, part))
  return { queries, snapshots: snapshotsOf(segments, part.object) }
}

/** Differs once its texts are indexed. */
function stateOf({ id, metadata }: Segments[number]): string {
  return `${id} ${metadata.textIndexes !== undefined}`
}

function rowsIn(segments: Segments): number {
  return segments.reduce((sum, { metadata }) => sum + metadata.rowCount, 0)
}

function largestPart({ objects }: SegmentMetadata): ObjectRows | undefined {
  return [...objects].sort((a, b) => b.to - b.from - (a.to - a.from))[0]
}

/** Rows of the object, which the last of the segments has: few, many, and some of each segment. */
function snapshotsOf(segments: Segments, object: number): QuerySnapshot[] {
  const { inline, shared, ofEach } = rowCounts
  const newest = segments.slice(-1)
  return [
    snapshotOf(newest, object, inline),
    snapshotOf(newest, object, shared),
    snapshotOf(segments, object, ofEach),
  ]
}

/** The last rows of the object in each of the segments that have some. */
function snapshotOf(segments: Segments, object: number, rows: number): QuerySnapshot {
  const last = segments.flatMap(({ id, metadata }) => {
    const part = metadata.objects.find((rowsOf) => rowsOf.object === object)
    if (!part) return []
    const objects = [{ ...part, from: Math.max(part.from, part.to - rows) }]
    return [{ id, metadata: { ...metadata, objects } }]
  })
  const transaction = Math.max(...last.map(({ metadata }) => metadata.lastTransaction))
  return {
    transaction,
    segments: last,
    fresh: new FreshSnapshot(transaction, [], []),
    history: () => [],
    release: () => undefined,
  }
}

/** Sees one object, whatever it is called. */
function viewOf(number: number): CatalogView {
  const named = { id: 'warm-up', name: 'warm-up', projectId: 'warm-up', organizationId: 'warm-up' }
  const object = { ...named, number, type: 'experiment' } as const
  return {
    readable: () => object,
    writable: () => undefined,
    readableInProject: () => undefined,
    readableOfType: () => [],
    readableByName: () => [],
    readableProject: () => undefined,
    organization: () => object,
  }
}

/** Of some records of the part, all over it. */
function idsOf(reads: TaskReads, segment: number, { from, to }: ObjectRows): string[] {
  return reads.during(() => {
    const column = reads.openSegment(segment).columns(['id'])?.text
    if (!column) return []
    const step = Math.max(1, Math.floor((to - from) / sampledIds))
    const ids: string[] = []
    for (let row = from; row < to; row += step) ids.push(textAt(column, row) ?? '')
    return ids
  })
}

const sampledIds = 100
