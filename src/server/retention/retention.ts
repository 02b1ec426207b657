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
/** Between two deletions others have their turn. */
const pauseMs = 5

const dayMs = 24 * 3600 * 1000

export class Retention {
  readonly #options: RetentionOptions
  readonly #abort = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<unknown> = Promise.resolve()
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

  /** Carries out a rule now, after what is under way. */
  run(automation: Automation): Promise<RetentionResult> {
    return this.#after(automation, true)
  }

  #after(automation: Automation, isAsked: boolean): Promise<RetentionResult> {
    const result = this.#running.then(() => this.#run(automation, isAsked))
    this.#running = result.catch(() => undefined)
    return result
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => void this.#round(), ms).unref()
  }

  async #round(): Promise<void> {
    const { engine, logger, everyMs = usualEveryMs } = this.#options
    for (const automation of [...engine.catalog.list('project_automation')]) {
      if (this.#abort.signal.aborted) return
      if ((automation.config as { readonly event_type?: unknown }).event_type !== 'retention') {
        continue
      }
      await this.#after(automation, false).catch((thrown: unknown) => {
        if (this.#abort.signal.aborted) return
        this.#status.failures++
        logger.error({ err: thrown, automation: automation.id }, 'a retention has failed')
      })
    }
    this.#status.rounds++
    this.#status.lastRound = Date.now()
    if (!this.#abort.signal.aborted) this.#later(everyMs)
  }

  async #run(automation: Automation, isAsked: boolean): Promise<RetentionResult> {
    const { engine, logger } = this.#options
    const { id, project_id } = automation
    const rule = ruleOf(automation.config)
    const total = { traces: 0, records: 0, bytes: 0, held: 0, kept: 0 }
    const transactions: string[] = []
    const isThere = () => engine.catalog.get('project_automation', id) !== undefined
    if (!rule || rule.status === 'paused' || !isThere()) return { ...total, transactions }
    for (const object of objectsOf(engine.catalog, project_id, rule)) {
      for (let isAll = false; !isAll && isThere(); ) {
        const selected = await selectTraces({ ...this.#select(object, rule), most: mostTraces })
        const gone = await this.#remove(object, rule, selected.traces)
        isAll = (selected.isAll && gone.isAll) || gone.records === 0
        total.traces += gone.traces
        total.records += gone.records
        total.bytes += gone.bytes
        transactions.push(...gone.transactions)
        if (isAll) {
          total.held += selected.held
          total.kept += selected.kept
        }
      }
      await this.#removeOldVersions(object, rule, isAsked)
    }
    const result = { ...total, transactions }
    this.#status.traces += total.traces
    this.#status.records += total.records
    if (total.records > 0) {
      await engine.catalog.noteInTrail('project_automation', id, { removed: result }, system)
      logger.info({ automation: id, ...total }, 'retention has removed records')
    }
    return result
  }

  #select(object: CatalogObject, rule: RetentionRule): Omit<SelectOptions, 'most'> {
    const { engine } = this.#options
    const view = serviceView(engine.catalog, object.projectId)
    return { engine, view, object, rule, signal: this.#abort.signal }
  }

  /** Removes the traces, or the first of many. */
  async #remove(object: CatalogObject, rule: RetentionRule, traces: readonly Trace[]) {
    const { engine } = this.#options
    const options = this.#select(object, rule)
    const chosen: { readonly ids: readonly string[]; readonly traces: readonly Trace[] }[] = []
    let [records, at] = [0, 0]
    for (; at < traces.length && records < mostRecords; at += tracesPerStep) {
      const some = traces.slice(at, at + tracesPerStep)
      const ids = await recordsOf(options, some)
      if (ids.length > 0) chosen.push({ ids, traces: some })
      records += ids.length
    }
    const transactions: string[] = []
    const result = { traces: 0, records, bytes: 0, transactions, isAll: at >= traces.length }
    if (records === 0) return result
    await engine.purge(
      chosen.map(({ ids }): Purge => ({ kind: 'deleted', object: object.number, ids })),
      async () => {
        for (const { traces: some } of chosen) {
          this.#abort.signal.throwIfAborted()
          const ids = await recordsOf(options, some)
          if (ids.length > 0) transactions.push(await deleteRecords(engine, object, ids))
          result.traces += some.length
          result.bytes += sum(some, ({ bytes }) => bytes)
          await sleep(pauseMs)
        }
      },
    )
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
