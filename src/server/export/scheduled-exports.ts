/**
 * Carries out the exports of projects, each at its times: one step after the other, of all that are due in turns. What
 * keeps one from going on is told in its state, and it is tried again, less and less often.
 */
import type { Access } from '../../access/access.ts'
import { system } from '../../catalog/audit-trail.ts'
import type { CatalogChange } from '../../catalog/catalog.ts'
import type { Engine } from '../../engine.ts'
import { AssayError, toAssayError } from '../../error.ts'
import type { ExportPlaces } from '../../object-store/export-places.ts'
import { formatTransaction } from '../../type/transaction.ts'
import type { Logger } from '../logger.ts'
import { type Automation, type ExportRule, isExport, ruleOf } from './export-rule.ts'
import { type ExportState, ExportStates, newState } from './export-states.ts'
import { exportStep } from './export-step.ts'
import { type ExportedCopies, exportedCopies, type WrittenVersions } from './exported-copies.ts'

export interface ScheduledExportsOptions {
  readonly engine: Engine
  readonly access: Access
  readonly places: ExportPlaces
  readonly dataDirectory: string
  readonly logger: Logger
  /** False: another node runs them. */
  readonly isActive?: boolean
}

/** `queued`: somebody has asked for a run that has not begun; `off`: whoever runs the service allows no place. */
export type ExportStatus = 'running' | 'queued' | 'waiting' | 'failed' | 'paused' | 'off'

/** What a run has written so far. */
export interface ExportProgress extends Readonly<Written> {
  /** In ms since 1970. */
  readonly since: number
}

export interface ShownExport {
  readonly status: ExportStatus
  readonly progress: ExportProgress | undefined
  readonly state: ExportState
  /** In ms since 1970; null where it does not run by itself. */
  readonly nextRun: number | null
}

/** Counts since the start, and how those are that are to run. */
export interface ExportsStatus {
  readonly active: number
  readonly failing: number
  readonly files: number
  readonly rows: number
  readonly bytes: number
  readonly failures: number
  /** Of the export that has not been well for longest; since it was saved where it never was. */
  readonly oldestGoodAgeSeconds: number
}

interface Written {
  files: number
  rows: number
  bytes: number
}

interface Run extends Written {
  readonly since: number
}

interface Entry {
  readonly id: string
  state: ExportState
  /** In ms since 1970; infinite: not by itself. */
  dueAt: number
  run: Run | undefined
  /** Of the step that is under way. */
  abort: AbortController | undefined
  step: Promise<void>
  /** Its state is being changed: no step begins. */
  isHeld: boolean
  /** How often a run was asked for since the last that was. */
  asked: number
  /** What the trail of changes does not tell of yet, and when it was told of something. */
  unnoted: Written
  notedAt: number
}

const firstRetryMs = 10_000
const lastRetryMs = 30 * 60_000
/** Runs that come closer together are told of together. */
const notedEveryMs = 3600 * 1000
const amounts = ['files', 'rows', 'bytes'] as const
const settleMs = 5000
/** Timers take no more. */
const longestWaitMs = 24 * 3600 * 1000

export class ScheduledExports {
  readonly #options: ScheduledExportsOptions
  readonly #states: ExportStates
  readonly #entries = new Map<string, Entry>()
  readonly #counts = { files: 0, rows: 0, bytes: 0, failures: 0 }
  readonly #stopListening: () => void
  readonly #work: Promise<void>
  #isClosing = false
  #wake: (() => void) | undefined

  private constructor(options: ScheduledExportsOptions, states: ExportStates) {
    this.#options = options
    this.#states = states
    const { catalog } = options.engine
    const isActive = options.isActive !== false
    this.#stopListening = catalog.onChange((changes) => isActive && this.#follow(changes))
    this.#work = this.#run()
  }

  static async open(options: ScheduledExportsOptions): Promise<ScheduledExports> {
    const states = await ExportStates.open(options.dataDirectory)
    const exports = new ScheduledExports(options, states)
    for (const id of await states.ids()) {
      if (!options.engine.catalog.get('project_automation', id)) await states.remove(id)
    }
    if (options.isActive === false) return exports
    for (const { id, config } of [...options.engine.catalog.list('project_automation')]) {
      if (isExport(config)) await exports.#add(id)
    }
    return exports
  }

  get status(): ExportsStatus {
    const now = Date.now()
    const active = [...this.#entries.values()].filter(({ id }) => this.#isActive(id))
    const ages = active.map(({ id, state }) => (now - (state.lastGood ?? this.#madeAt(id))) / 1000)
    return {
      ...this.#counts,
      active: active.length,
      failing: active.filter(({ state }) => state.error !== null).length,
      oldestGoodAgeSeconds: Math.max(0, ...ages),
    }
  }

  /** How an export is; throws REQUEST_INVALID for an automation that is none. */
  shown({ id, config }: Automation): ShownExport {
    requireExport(config)
    const entry = this.#entries.get(id)
    const state = entry?.state ?? newState
    const isTimed = entry !== undefined && Number.isFinite(entry.dueAt)
    const status = this.#statusOf(id, state)
    return {
      status,
      progress: status === 'running' && entry?.run ? { ...entry.run } : undefined,
      state,
      nextRun: isTimed && this.#isActive(id) ? entry.dueAt : null,
    }
  }

  /** Begins to write what there is to write. A run that has not ended its last look is for all who have asked. */
  async run({ id, config }: Automation): Promise<void> {
    requireExport(config)
    if (!this.#arePlaces) throw noPlaces()
    const entry = await this.#add(id)
    if (this.#ruleOf(id)?.isPaused) return
    entry.asked++
    entry.dueAt = Math.min(entry.dueAt, Date.now())
    this.#wake?.()
  }

  /** Has all that was written after the transaction written again, instead of the files that have it. */
  async rewind({ id, config }: Automation, to: number): Promise<ExportState> {
    requireExport(config)
    const entry = await this.#add(id)
    entry.isHeld = true
    try {
      entry.abort?.abort()
      await entry.step
      const rewindTo = Math.min(to, entry.state.rewindTo ?? to)
      await this.#save(entry, { ...entry.state, rewindTo, error: null })
      if (this.#isActive(id)) entry.dueAt = 0
    } finally {
      entry.isHeld = false
      this.#wake?.()
    }
    return entry.state
  }

  /** Files that may have records that were deleted for good, once no step that has read them before is under way. */
  async copiesOf(
    organizationId: string,
    written: readonly WrittenVersions[],
  ): Promise<ExportedCopies[]> {
    await Promise.all(Array.from(this.#entries.values(), ({ step }) => step))
    const { engine, places } = this.#options
    return exportedCopies(engine.catalog, places, organizationId, written)
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#stopListening()
    for (const { abort } of this.#entries.values()) abort?.abort()
    this.#wake?.()
    await this.#work
  }

  /** One that is not known yet is due at once, or when its next run is. */
  async #add(id: string): Promise<Entry> {
    const known = this.#entries.get(id)
    if (known) return known
    const state = await this.#states.read(id)
    const meanwhile = this.#entries.get(id)
    if (meanwhile) return meanwhile
    const entry: Entry = {
      id,
      state,
      dueAt: Number.POSITIVE_INFINITY,
      run: undefined,
      abort: undefined,
      step: Promise.resolve(),
      isHeld: false,
      asked: 0,
      unnoted: { files: 0, rows: 0, bytes: 0 },
      notedAt: 0,
    }
    this.#entries.set(id, entry)
    this.#plan(entry)
    return entry
  }

  #follow(changes: readonly CatalogChange[]): void {
    for (const { kind, id, after } of changes) {
      if (kind !== 'project_automation') continue
      const entry = this.#entries.get(id)
      if (after && isExport((after as Automation).config)) {
        if (entry) this.#plan(entry)
        else this.#add(id).catch(this.#complain)
      } else if (entry) this.#forget(entry, after !== undefined)
    }
  }

  /** What is begun ends with it. The state of an automation that does something else now stays. */
  #forget(entry: Entry, keepsState: boolean): void {
    this.#entries.delete(entry.id)
    entry.abort?.abort()
    if (keepsState) return
    entry.step.then(() => this.#states.remove(entry.id)).catch(this.#complain)
  }

  /** When it is to run next. A change of its settings may be what it needed. */
  #plan(entry: Entry): void {
    const { id, state } = entry
    const rule = this.#isActive(id) ? this.#ruleOf(id) : undefined
    const isBegun = state.begun !== undefined || state.rewindTo !== undefined
    if (!rule) {
      entry.dueAt = Number.POSITIVE_INFINITY
      entry.asked = 0
    } else if (isBegun || state.error || state.lastRun === null || entry.asked > 0) {
      entry.dueAt = Date.now()
    } else entry.dueAt = nextTime(state.lastRun, rule)
    this.#wake?.()
  }

  async #run(): Promise<void> {
    // Whatever else starts has the first turn.
    await new Promise(setImmediate)
    while (!this.#isClosing) {
      const [next] = [...this.#entries.values()]
        .filter(({ isHeld }) => !isHeld)
        .sort((a, b) => a.dueAt - b.dueAt)
      const waitMs = (next?.dueAt ?? Number.POSITIVE_INFINITY) - Date.now()
      if (!next || waitMs > 0) {
        await this.#pause(waitMs)
        continue
      }
      next.step = this.#step(next).catch(this.#complain)
      await next.step
    }
  }

  async #step(entry: Entry): Promise<void> {
    const { engine, access, places } = this.#options
    const { id } = entry
    const abort = new AbortController()
    entry.abort = abort
    // Whoever asks from now on may have written what this step does not see.
    const { asked } = entry
    const automation = engine.catalog.get('project_automation', id)
    try {
      const rule = automation && ruleOf(automation)
      if (!automation || !rule) {
        entry.dueAt = Number.POSITIVE_INFINITY
        return
      }
      if (!this.#arePlaces) throw noPlaces()
      entry.run ??= { since: Date.now(), files: 0, rows: 0, bytes: 0 }
      const { state, written } = await exportStep(
        {
          engine,
          access,
          places,
          automation,
          rule,
          isAsked: asked > 0,
          signal: abort.signal,
          save: (state) => this.#save(entry, state),
        },
        entry.state,
      )
      entry.state = state
      if (!written) await this.#endRun(entry, rule, asked)
      else {
        for (const name of amounts) {
          entry.run[name] += written[name]
          this.#counts[name] += written[name]
        }
        // Others that are due come first.
        entry.dueAt = Date.now()
      }
    } catch (thrown) {
      if (!abort.signal.aborted) await this.#noteFailure(entry, thrown)
    } finally {
      entry.abort = undefined
    }
  }

  async #endRun(entry: Entry, rule: ExportRule, asked: number): Promise<void> {
    const { id, run } = entry
    const now = Date.now()
    const { since, ...written } = run!
    const last = { time: now, ...written, seconds: Math.round((now - since) / 100) / 10 }
    entry.dueAt = entry.asked > asked ? now : nextTime(since, rule)
    await this.#save(entry, {
      ...entry.state,
      lastRun: since,
      lastGood: now,
      ...((written.files > 0 || asked > 0) && { last }),
      error: null,
    })
    if (written.files > 0) {
      this.#options.logger.info({ automation: id, ...written }, 'an export has written files')
      for (const name of amounts) entry.unnoted[name] += written[name]
      const isTold = asked > 0 || now - entry.notedAt >= notedEveryMs
      if (isTold) await this.#noteInTrail(entry).catch(this.#complain)
    }
    entry.run = undefined
    entry.asked = Math.max(0, entry.asked - asked)
  }

  async #noteInTrail(entry: Entry): Promise<void> {
    const { catalog } = this.#options.engine
    const through = formatTransaction(entry.state.through ?? 0)
    const exported = { ...entry.unnoted, through }
    entry.unnoted = { files: 0, rows: 0, bytes: 0 }
    entry.notedAt = Date.now()
    await catalog.noteInTrail('project_automation', entry.id, { exported }, system)
  }

  async #noteFailure(entry: Entry, thrown: unknown): Promise<void> {
    const { logger } = this.#options
    const error = toAssayError(thrown)
    const tries = (entry.state.error?.tries ?? 0) + 1
    const since = entry.state.error?.since ?? Date.now()
    const isOurs = error.family === 'internal'
    const hint = error.hint === undefined ? '' : ` (${error.hint})`
    const message = isOurs
      ? 'something went wrong here; the log of the service tells what'
      : `${error.message}${hint}`
    const level = tries === 1 || isOurs ? 'warn' : 'debug'
    logger[level]({ err: error.cause ?? error, automation: entry.id }, 'an export has failed')
    this.#counts.failures++
    const pauseMs = Math.min(lastRetryMs, firstRetryMs * 2 ** Math.min(tries - 1, 20))
    const isTimed = this.#isActive(entry.id)
    entry.dueAt = isTimed
      ? Date.now() + pauseMs * (0.75 + Math.random() / 2)
      : Number.POSITIVE_INFINITY
    const failed = { ...entry.state, lastRun: Date.now(), error: { message, since, tries } }
    // A disk that is full takes no state either.
    await this.#save(entry, failed).catch(() => {
      entry.state = failed
    })
    entry.run = undefined
    entry.asked = 0
  }

  async #save(entry: Entry, state: ExportState): Promise<void> {
    if (this.#entries.get(entry.id) !== entry) return
    await this.#states.write(entry.id, state)
    entry.state = state
  }

  #statusOf(id: string, { error }: ExportState): ExportStatus {
    const rule = this.#ruleOf(id)
    if (rule?.isPaused) return 'paused'
    if (!this.#arePlaces) return 'off'
    const { run, asked = 0 } = this.#entries.get(id) ?? {}
    if (asked > 0) return run ? 'running' : 'queued'
    if (error) return 'failed'
    return run ? 'running' : 'waiting'
  }

  /** Whether it runs by itself. */
  #isActive(id: string): boolean {
    return this.#arePlaces && this.#ruleOf(id)?.isPaused === false
  }

  get #arePlaces(): boolean {
    const { folders, buckets } = this.#options.places
    return folders.length + buckets.length > 0
  }

  /** Undefined also for one with settings that cannot be carried out, which a run tells of. */
  #ruleOf(id: string): ExportRule | undefined {
    const automation = this.#options.engine.catalog.get('project_automation', id)
    try {
      return automation && ruleOf(automation)
    } catch {
      return undefined
    }
  }

  #madeAt(id: string): number {
    const { created } = this.#options.engine.catalog.get('project_automation', id) ?? {}
    return created == null ? Date.now() : Date.parse(created)
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(), Math.min(milliseconds, longestWaitMs))
      timer.unref()
      const end = () => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
      this.#wake = end
    })
  }

  readonly #complain = (error: unknown) => {
    this.#options.logger.error({ err: error }, 'scheduled exports')
  }
}

/** Runs are after multiples of the interval: an hourly one when an hour is over, and its last writes have come. */
function nextTime(last: number, { intervalMs }: ExportRule): number {
  return (Math.floor(last / intervalMs) + 1) * intervalMs + Math.min(settleMs, intervalMs / 10)
}

function requireExport(config: unknown): void {
  if (isExport(config)) return
  throw new AssayError('REQUEST_INVALID', 'the automation is no export', {
    path: 'config.event_type',
    hint: 'give one with the event_type "btql_export"',
  })
}

function noPlaces(): AssayError {
  return new AssayError('ACCESS_DENIED', 'this service allows no place for exports', {
    path: 'config.export_path',
    hint: 'start it with --export-folders or --export-buckets',
  })
}
