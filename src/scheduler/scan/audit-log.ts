import type { ScanMetrics } from '../../executor/task/task.ts'
import { PlanProfile } from '../../planner/plan-profile.ts'

export type AuditDetail =
  | string
  | number
  | boolean
  | readonly string[]
  | Readonly<Record<string, number>>

/** One step of a query. Times are milliseconds; `at` counts from the query's start. */
export interface AuditEvent {
  readonly event: string
  readonly at: number
  readonly duration: number
  readonly [detail: string]: AuditDetail
}

/** What the stages of one query wrote down. Costs a clock reading per step when nobody asked. */
export class AuditLog {
  /** Whether somebody wants to know: then tasks measure their operators, too. */
  readonly isKept: boolean
  readonly #start = performance.now()
  readonly #events: AuditEvent[] = []
  readonly #profiles = new Map<string, PlanProfile>()
  readonly #onEvent: ((event: AuditEvent) => void) | undefined
  #bytesRead = 0

  /** @param onEvent is told of each step as it is added */
  constructor(isKept: boolean, onEvent?: (event: AuditEvent) => void) {
    this.isKept = isKept
    this.#onEvent = onEvent
  }

  /** In order; then what each operator did. */
  get events(): readonly AuditEvent[] {
    return [...this.#events, ...this.#profileEvents()]
  }

  /** Of the plan of that name: see `PlanRun`. */
  profile(plan: string): PlanProfile {
    const profile = this.#profiles.get(plan) ?? new PlanProfile()
    this.#profiles.set(plan, profile)
    return profile
  }

  /** Bytes of columns and rows that the scans have read so far. */
  get bytesRead(): number {
    return this.#bytesRead
  }

  now(): number {
    return performance.now()
  }

  /** Adds a step that began at `started`, by `now()`, and ends here. */
  add(event: string, started: number, details: Readonly<Record<string, AuditDetail>> = {}): void {
    if (!this.isKept) return
    const ended = performance.now()
    const added = {
      event,
      at: rounded(started - this.#start),
      duration: rounded(ended - started),
      ...details,
    }
    this.#events.push(added)
    this.#onEvent?.(added)
  }

  /** Adds to the bytes that were read. */
  noteBytes(bytes: number): void {
    this.#bytesRead += bytes
  }

  /** Adds a scan that a worker has done. */
  task(plan: string, metrics: ScanMetrics): void {
    const { operators = [], milliseconds, skipped, ...read } = metrics
    this.#bytesRead += read.bytesRead
    for (const each of operators) this.profile(plan).add(each)
    for (const each of skipped) this.profile(plan).skip(each)
    this.add('scan', performance.now() - milliseconds, read)
  }

  /** Adds rows that were printed. */
  printed(plan: string, started: number, rows: number, bytes: number): void {
    const milliseconds = performance.now() - started
    if (this.isKept) {
      const counts = { rowsIn: rows, rowsOut: rows, bytes }
      this.profile(plan).add({ operator: 'print', ...counts, milliseconds })
    }
    this.add('print', started, { rows, bytes })
  }

  *#profileEvents(): Generator<AuditEvent> {
    if (!this.isKept) return
    for (const [plan, profile] of this.#profiles) {
      for (const { by, segments, granules, rows } of profile.skipped) {
        yield { event: 'skipped', at: 0, duration: 0, plan, by, segments, granules, rows }
      }
      for (const { milliseconds, ...counts } of profile.operators) {
        yield { event: 'operator', at: 0, duration: rounded(milliseconds), plan, ...counts }
      }
    }
  }
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
