import type { ScanMetrics } from '../executor/task.ts'

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
  readonly #isKept: boolean
  readonly #start = performance.now()
  readonly #events: AuditEvent[] = []
  #bytesRead = 0

  constructor(isKept: boolean) {
    this.#isKept = isKept
  }

  get events(): readonly AuditEvent[] {
    return this.#events
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
    if (!this.#isKept) return
    const ended = performance.now()
    this.#events.push({
      event,
      at: rounded(started - this.#start),
      duration: rounded(ended - started),
      ...details,
    })
  }

  /** Adds a scan that a worker has done. */
  task({ rowsRead, rowsMatched, bytesRead, milliseconds }: ScanMetrics): void {
    this.#bytesRead += bytesRead
    this.add('scan', performance.now() - milliseconds, { rowsRead, rowsMatched, bytesRead })
  }
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
