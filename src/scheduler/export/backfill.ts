/** How far the export of many rows is that were there before it, or that came while ClickHouse did not answer. */

export interface BackfillProgress {
  /** Row versions that have arrived since it began, and all that it has to send. */
  readonly done: number
  readonly rows: number
  /** As fast as it went so far; undefined while that is not known. */
  readonly secondsLeft: number | undefined
}

/** With more than so many rows to send it is a backfill. */
const manyRows = 100_000

interface Amounts {
  /** Sent since the start of the service, and still to be sent. */
  readonly sentRows: number
  readonly rows: number
}

export class Backfill {
  #begin: { readonly sentRows: number; readonly ms: number } | undefined
  #now: Amounts & { readonly ms: number } = { sentRows: 0, rows: 0, ms: 0 }

  /** Takes note of how far the export is. Returns whether a backfill has begun or ended with it. */
  update({ sentRows, rows }: Amounts, ms: number): 'begun' | 'ended' | undefined {
    this.#now = { sentRows, rows, ms }
    if (this.#begin === undefined) {
      if (rows <= manyRows) return undefined
      this.#begin = { sentRows, ms }
      return 'begun'
    }
    if (rows > 0) return undefined
    this.#begin = undefined
    return 'ended'
  }

  /** Undefined while there is none. */
  get progress(): BackfillProgress | undefined {
    if (this.#begin === undefined) return undefined
    const { sentRows, rows, ms } = this.#now
    const done = sentRows - this.#begin.sentRows
    const seconds = (ms - this.#begin.ms) / 1000
    const secondsLeft = done > 0 && seconds > 0 ? Math.round((rows * seconds) / done) : undefined
    return { done, rows: done + rows, secondsLeft }
  }
}
