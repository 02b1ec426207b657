/**
 * Carries out the retention of projects: from time to time, for each rule, selects the traces that are to go, deletes their
 * records in small requests and takes all their versions from disk. Each trace is looked at again when its turn comes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { serviceView } from '../../access/service-view.ts'
import { system } from '../../catalog/audit-trail.ts'
import type { CatalogObject } from '../../catalog/catalog.ts'
import type { Entries } from '../../catalog/entry.ts'
import type { Engine } from '../../engine.ts'
import type { Purge } from '../../storage/maintenance/purge-plan.ts'
import type { Logger } from '../logger.ts'
import { objectsOf, type RetentionRule, ruleOf } from './rule.ts'
import { type RunProgress, type RunState, RunStates } from './run-states.ts'
import {
  heldRecords,
  recordsOf,
  type SelectOptions,
  selectTraces,
  type Trace,
} from './select-traces.ts'

export interface RetentionOptions {
  readonly engine: Engine
  readonly logger: Logger
  /** How long after the end of a round the next begins. */
  readonly everyMs?: number
  /** False: rounds do not begin by themselves. */
  readonly isActive?: boolean
}

export interface RetentionResult {
  readonly traces: number
  readonly records: number
  /** Of the text of their values, about. */
  readonly bytes: number
  /** Traces that a tag or the filter of the rule keeps. */
  readonly held: number
  readonly kept: number
  /** The `_xact_id`s of the deletions. */
  readonly transactions: readonly string[]
}

/** Counts since the start. */
export interface RetentionStatus {
  readonly rounds: number
  readonly traces: number
  readonly records: number
  readonly failures: number
  /** When the last round ended, in ms since 1970; 0: none has. */
  readonly lastRound: number
}

type Automation = Entries['project_automation']

const usualEveryMs = 15 * 60_000
const firstAfterMs = 30_000

/** Of a purge, which is planned in memory. */
const mostTraces = 50_000
const mostRecords = 100_000
/** Traces that are looked at, and deleted, at a time. */
const tracesPerStep = 200
/** All marks of an object may have to be read for that. */
const oldVersionsEveryMs = 6 * 3600 * 1000
/** Of old versions of an object, in a round. */
const mostPlans = 50
/** Queries of others wait while traces are looked for, so they have the next stretch as long, and this at least. */
const pauseMs = 5

const dayMs = 24 * 3600 * 1000

export class Retention {
  readonly #options: RetentionOptions
  readonly #abort = new AbortController()
  #timer: NodeJS.Timeout | undefined
  /** Ends when all runs that were asked for are done; never rejects. */
  #running: Promise<void> = Promise.resolve()
  readonly #runs = new RunStates<RetentionResult>()
  /** Rules that somebody has asked to be carried out, and that were not begun since. */
  readonly #asked = new Set<string>()
  /** By object, when its old versions were looked for. */
  readonly #oldVersionsAt = new Map<number, number>()
  #status = { rounds: 0, traces: 0, records: 0, failures: 0, lastRound: 0 }

  constructor(options: RetentionOptions) {
    this.#options = options
    if (options.isActive !== false) this.#later(firstAfterMs)
  }

  get status(): RetentionStatus {
    return { ...this.#status }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#abort.abort()
    await this.#running
  }

  /** What the rule would remove now. */
  async preview(
    projectId: string,
    rule: RetentionRule,
    mostTraces: number,
  ): Promise<PreviewedObject[]> {
    const found: PreviewedObject[] = []
    for (const object of objectsOf(this.#options.engine.catalog, projectId, rule)) {
      const selected = await selectTraces({ ...this.#select(object, rule), most: countedTraces })
      const { traces, held, kept, isAll } = selected
      found.push({
        object_type: object.type,
        object_id: object.id,
        object_name: object.name,
        traces: traces.length,
        records: sum(traces, ({ records }) => records),
        bytes: sum(traces, ({ bytes }) => bytes),
        held_traces: held,
        kept_traces: kept,
        is_all: isAll,
        examples: traces.slice(0, mostTraces).map(({ root, newest, records }) => ({
          root_span_id: root,
          newest,
          records,
        })),
      })
    }
    return found
  }

  /** Begins to carry out a rule, after what is under way. A run that has not begun yet is for all who have asked. */
  run(automation: Automation): void {
    if (this.#asked.has(automation.id)) return
    this.#asked.add(automation.id)
    void this.#after(automation)
  }

  /** How the rule's runs go, since the start of the service. */
  stateOf({ id }: Pick<Automation, 'id'>): RunState<RetentionResult> {
    return this.#runs.of(id)
  }

  /** What fails is noted; never rejects. */
  #after(automation: Automation): Promise<void> {
    const { id } = automation
    const run = async (progress: RunProgress) => {
      const isAsked = this.#asked.delete(id)
      const result = await this.#run(automation, progress, isAsked)
      return isAsked || result.records > 0 ? result : undefined
    }
    this.#running = this.#runs.follow(id, this.#running, run).catch((thrown: unknown) => {
      if (this.#abort.signal.aborted) return
      this.#status.failures++
      this.#options.logger.error({ err: thrown, automation: id }, 'a retention has failed')
    })
    return this.#running
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => void this.#round(), ms).unref()
  }

  async #round(): Promise<void> {
    const { engine, everyMs = usualEveryMs } = this.#options
    const { catalog } = engine
    this.#runs.keep((id) => catalog.get('project_automation', id) !== undefined)
    for (const automation of [...catalog.list('project_automation')]) {
      if (this.#abort.signal.aborted) return
      if ((automation.config as { readonly event_type?: unknown }).event_type !== 'retention') {
        continue
      }
      await this.#after(automation)
    }
    this.#status.rounds++
    this.#status.lastRound = Date.now()
    if (!this.#abort.signal.aborted) this.#later(everyMs)
  }

  async #run(
    automation: Automation,
    progress: RunProgress,
    isAsked: boolean,
  ): Promise<RetentionResult> {
    this.#abort.signal.throwIfAborted()
    const { engine, logger } = this.#options
    const { id, project_id } = automation
    const rule = ruleOf(automation.config)
    const total = { held: 0, kept: 0 }
    const transactions: string[] = []
    const isThere = () => engine.catalog.get('project_automation', id) !== undefined
    if (!rule || rule.status === 'paused' || !isThere()) {
      return { traces: 0, records: 0, bytes: 0, ...total, transactions }
    }
    for (const object of objectsOf(engine.catalog, project_id, rule)) {
      for (let isAll = false; !isAll && isThere(); ) {
        progress.step = 'selecting'
        const selected = await selectTraces({ ...this.#select(object, rule), most: mostTraces })
        const gone = await this.#remove(object, rule, selected.traces, progress)
        isAll = (selected.isAll && gone.isAll) || gone.transactions.length === 0
        transactions.push(...gone.transactions)
        if (isAll) {
          total.held += selected.held
          total.kept += selected.kept
        }
      }
      await this.#removeOldVersions(object, rule, isAsked)
    }
    const { traces, records, bytes } = progress
    const result = { traces, records, bytes, ...total, transactions }
    this.#status.traces += traces
    this.#status.records += records
    if (records > 0) {
      await engine.catalog.noteInTrail('project_automation', id, { removed: result }, system)
      logger.info(
        { automation: id, traces, records, bytes, ...total },
        'retention has removed records',
      )
    }
    return result
  }

  #select(object: CatalogObject, rule: RetentionRule): Omit<SelectOptions, 'most'> {
    const { engine } = this.#options
    const view = serviceView(engine.catalog, object.projectId)
    return { engine, view, object, rule, signal: this.#abort.signal }
  }

  /** Removes the traces, or the first of many. */
  async #remove(
    object: CatalogObject,
    rule: RetentionRule,
    traces: readonly Trace[],
    progress: RunProgress,
  ): Promise<{ readonly transactions: readonly string[]; readonly isAll: boolean }> {
    const { engine } = this.#options
    const options = this.#select(object, rule)
    const chosen: { readonly ids: readonly string[]; readonly traces: readonly Trace[] }[] = []
    let [records, at] = [0, 0]
    for (; at < traces.length && records < mostRecords; at += tracesPerStep) {
      const some = traces.slice(at, at + tracesPerStep)
      const ids = await this.#inTurns(() => recordsOf(options, some))
      if (ids.length > 0) chosen.push({ ids, traces: some })
      records += ids.length
    }
    const transactions: string[] = []
    const result = { transactions, isAll: at >= traces.length }
    if (records === 0) return result
    progress.step = 'deleting'
    await engine.purge(
      chosen.map(({ ids }): Purge => ({ kind: 'deleted', object: object.number, ids })),
      async () => {
        for (const { traces: some } of chosen) {
          this.#abort.signal.throwIfAborted()
          const ids = await this.#inTurns(async () => {
            const ids = await recordsOf(options, some)
            if (ids.length > 0) transactions.push(await deleteRecords(engine, object, ids))
            return ids
          })
          progress.traces += some.length
          progress.records += ids.length
          progress.bytes += sum(some, ({ bytes }) => bytes)
        }
        progress.step = 'freeing'
      },
    )
    return result
  }

  /** Pauses after the work for as long as it took. */
  async #inTurns<Result>(work: () => Promise<Result>): Promise<Result> {
    const begun = performance.now()
    const result = await work()
    const { signal } = this.#abort
    await sleep(Math.max(pauseMs, performance.now() - begun), undefined, { signal })
    return result
  }

  async #removeOldVersions(
    object: CatalogObject,
    rule: RetentionRule,
    isAsked: boolean,
  ): Promise<void> {
    const days = rule.old_versions_days
    if (days == null) return
    const { engine } = this.#options
    const before = Math.floor((engine.now() - days * dayMs) / 1000) * 0x10000
    const last = this.#oldVersionsAt.get(object.number) ?? 0
    if (before <= 0 || (!isAsked && Date.now() - last < oldVersionsEveryMs)) return
    this.#oldVersionsAt.set(object.number, Date.now())
    // A plan takes so many of them, and those that are held are always there.
    for (let plans = 0; plans < mostPlans; plans++) {
      if (!engine.hasOlderVersions(object.number, before)) return
      this.#abort.signal.throwIfAborted()
      const except = await heldRecords(this.#select(object, rule))
      const purge: Purge = { kind: 'superseded', object: object.number, before, except }
      await engine.purge([purge], async () => undefined)
      if (except.length > 0) return
    }
  }
}

/** A preview counts no more. */
const countedTraces = 1_000_000

export interface PreviewedObject {
  readonly object_type: string
  readonly object_id: string
  readonly object_name: string
  readonly traces: number
  readonly records: number
  readonly bytes: number
  readonly held_traces: number
  readonly kept_traces: number
  readonly is_all: boolean
  readonly examples: readonly {
    readonly root_span_id: string
    readonly newest: string
    readonly records: number
  }[]
}

/** Deletes records in one request; returns its transaction. */
export async function deleteRecords(
  engine: Engine,
  object: CatalogObject,
  ids: readonly string[],
): Promise<string> {
  const events = ids.map((id) => ({ id, _object_delete: true }))
  const { transactionId } = await engine.insert({
    body: Buffer.from(JSON.stringify({ events })),
    form: 'events',
    object: { type: object.type, id: object.id },
    view: serviceView(engine.catalog, object.projectId),
    mostRows: Number.POSITIVE_INFINITY,
  })
  return transactionId
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
