/**
 * Runs typical queries after a start, while nobody asks for anything: JavaScript is interpreted at first
 * and compiled as it is used, in each thread for itself, so that without it the first hundreds of
 * queries take several times as long as later ones. They read the newest segment, by the ways that all
 * queries go, and their answers are dropped; no statistics, limits or logs know of them.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { CatalogView } from '../catalog/catalog.ts'
import type { RowForm } from '../executor/print/row-form.ts'
import type { PriceTable } from '../function/prices.ts'
import type { TaskReads } from '../storage/read/task-reads.ts'
import {
  type ColumnMetadata,
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

/** After a request it waits for so long without one, and in all for no longer than that. */
const quietMs = 500
const patienceMs = 60_000

/** Rows of which the main thread answers queries itself, and such that workers share. */
const rowCounts = { here: 4000, shared: 40_000 }

/** Queries that may wait for threads which have just been started. */
const startingQueries = 4

const form: RowForm = { kind: 'json', separator: ',\n' }

export class WarmUp {
  #lastRequest = Number.NEGATIVE_INFINITY
  #isStopped = false
  #running: Promise<number> = Promise.resolve(0)

  /** Must be called when somebody asks for something. */
  noteRequest(): void {
    this.#lastRequest = performance.now()
  }

  /**
   * Resolves with the number of queries that were run, once the time is over. Rejects when the newest
   * segment cannot be read.
   */
  start(options: WarmUpOptions): Promise<number> {
    const { manifest, release } = options.maintenance.acquire()
    const newest = manifest.segments.findLast(({ metadata }) => !isSupersededWhole(metadata))
    const largest = newest && largestPart(newest.metadata)
    const asked = newest && largest ? this.#run(options, newest, largest) : Promise.resolve(0)
    this.#running = asked.finally(release)
    return this.#running
  }

  /** Resolves when none of its queries runs any more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    // Whoever began it has been told why it failed.
    await this.#running.catch(() => undefined)
  }

  async #run(
    { seconds, reads, pool, limits, now, prices }: WarmUpOptions,
    segment: QuerySnapshot['segments'][number],
    part: ObjectRows,
  ): Promise<number> {
    const quietLimits = { ...limits, keptAnswersBytes: 0, slowMs: undefined }
    const plans = new QueryPlans({ reads, now, prices })
    const runner = new QueryRunner(pool, quietLimits, undefined)
    const inline = new InlineAnswers({ runner, reads, pool, limits: quietLimits })
    const view = viewOf(part.object)
    const ask = async (query: string, snapshot: QuerySnapshot) => {
      const audit = new AuditLog(false)
      const { planned, context } = plans.plan({ query, view }, audit)
      const { physical, family } = planned
      const asked = { physical, context, form, owner: undefined, text: query }
      const { transaction } = snapshot
      const answer = inline.answer(
        { ...asked, family, transaction, isNewest: true },
        () => snapshot,
      )
      if (!('snapshot' in answer)) return
      const run = { ...asked, ...answer, id: '', audit }
      const nobody = { timeoutSeconds: undefined, signal: undefined, onProgress: undefined }
      for await (const _ of runner.run({ ...run, ...nobody })) if (this.#isStopped) break
    }
    const queries = new Set(typicalQueries(segment.metadata, idsOf(reads, segment.id, part)))
    const [few, many] = [rowCounts.here, rowCounts.shared].map((rows) =>
      snapshotOf(segment, { ...part, from: Math.max(part.from, part.to - rows) }),
    )
    const started = performance.now()
    let spentMs = 0
    const isOver = () =>
      this.#isStopped || spentMs > seconds * 1000 || performance.now() - started > patienceMs
    let asked = 0
    for (let round = 0; queries.size > 0; round++) {
      for (const query of queries) {
        // The event loop turns, so that requests come before the next query.
        await wait(0)
        while (performance.now() - this.#lastRequest < quietMs && !isOver()) await wait(quietMs)
        if (isOver()) return asked
        const begun = performance.now()
        try {
          await ask(query(asked), round % 2 === 0 ? few! : many!)
          asked++
        } catch {
          // The names of this segment's fields do not suit the query: it is not asked again.
          queries.delete(query)
        }
        // The first ones wait for threads to start.
        if (asked > startingQueries) spentMs += performance.now() - begun
      }
    }
    return asked
  }
}

function largestPart({ objects }: SegmentMetadata): ObjectRows | undefined {
  return [...objects].sort((a, b) => b.to - b.from - (a.to - a.from))[0]
}

function snapshotOf(
  { id, metadata }: QuerySnapshot['segments'][number],
  part: ObjectRows,
): QuerySnapshot {
  const transaction = metadata.lastTransaction
  return {
    transaction,
    segments: [{ id, metadata: { ...metadata, objects: [part] } }],
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

/** Queries of the fields that the segment has. Each has another constant at each turn, as others have. */
function typicalQueries(
  { columns }: SegmentMetadata,
  ids: readonly string[],
): ((turn: number) => string)[] {
  const named = columns.filter(({ path }) => path.length > 1 && path.every(isPlainName))
  const pathOf = (fits: (column: ColumnMetadata) => boolean, fallback: string) =>
    named.find(fits)?.path.join('.') ?? fallback
  const number = pathOf(({ type }) => type === 'number', 'metrics.tokens')
  const name = pathOf((column) => column.type === 'text' && isShort(column), 'metadata.model')
  const clauses: ((turn: number) => string)[] = [
    (turn) => `measures: count(1) as n${turn}`,
    (turn) =>
      `dimensions: ${name} as k | measures: count(1) as n, avg(${number}) as a | filter: ${number} != ${turn}.5`,
    (turn) => `select: * | limit: ${10 + (turn % 20)}`,
    (turn) =>
      `measures: sum(${number}) as s, max(${number}) as m | filter: ${name} != 'other ${turn}'`,
    (turn) =>
      `select: id, ${number} | filter: ${number} > ${turn % 10} | sort: ${number} desc | limit: 10`,
    (turn) => `dimensions: day(created) as d, ${name} as k | measures: count(1) as n${turn}`,
    (turn) => `select: id | filter: input ILIKE '%word ${turn}%' | limit: 10`,
    (turn) => `measures: count(1) as n${turn} | filter: search('${wordOf(turn)}')`,
    (turn) =>
      `dimensions: ${name} as k | measures: count(1) as n${turn} | filter: output match '${wordOf(turn)} ${wordOf(turn + 1)}'`,
    ...(ids.length === 0
      ? []
      : [(turn: number) => `select: * | filter: id = '${ids[turn % ids.length]}'`]),
  ]
  return clauses.map((clause) => (turn) => `from: experiment('warm-up') | ${clause(turn)}`)
}

/** Some are in the texts of any application, so that rows are found, and some in none. */
const words = ['the', 'error', 'order', 'please', 'unheard', 'user', 'question']

function wordOf(turn: number): string {
  return words[turn % words.length]!
}

function isPlainName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name)
}

function isShort(column: ColumnMetadata): boolean {
  return 'encoding' in column && column.encoding === 'dictionary' && column.distinctCount <= 1000
}
