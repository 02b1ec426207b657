/** Rows that a query has read of the cluster a moment ago, for whoever prints them: they are not asked for again. */
import type { ColdKey } from '../../clickhouse/read/cold-reader.ts'
import { hasLent } from '../../storage/row/lent-rows.ts'
import type { MemoryShare } from '../admission/memory-budget.ts'

/** Of what a query may hold: tasks need the rest. */
const keptShare = 1 / 8

export class ReadParts {
  readonly #memory: MemoryShare
  readonly #ending: AbortSignal
  /** The oldest first. */
  readonly #parts: SharedArrayBuffer[] = []
  #bytes = 0

  /** @param ending is aborted once the query has ended, with which all is let go of */
  constructor(memory: MemoryShare, ending: AbortSignal) {
    this.#memory = memory
    this.#ending = ending
    ending.addEventListener('abort', () => this.#keepUpTo(0), { once: true })
  }

  /** Keeps the part as long as there is room, in the place of those that were read earlier. */
  add(part: SharedArrayBuffer): void {
    const most = this.#memory.limit * keptShare
    const { byteLength } = part
    if (this.#ending.aborted || byteLength > most) return
    this.#keepUpTo(most - byteLength)
    if (!this.#memory.lendIfRoom(byteLength)) return
    this.#parts.push(part)
    this.#bytes += byteLength
  }

  has(part: SharedArrayBuffer): boolean {
    return this.#parts.includes(part)
  }

  /** Parts that have some of the rows, and those rows that are in none. */
  withRows(keys: readonly ColdKey[]): {
    readonly parts: readonly SharedArrayBuffer[]
    readonly missing: readonly ColdKey[]
  } {
    const parts = new Set<SharedArrayBuffer>()
    const missing = keys.filter(({ object, version }) => {
      const part = this.#parts.findLast((each) => hasLent(each, object, version))
      if (part) parts.add(part)
      return part === undefined
    })
    return { parts: [...parts], missing }
  }

  #keepUpTo(bytes: number): void {
    while (this.#bytes > bytes) {
      const { byteLength } = this.#parts.shift()!
      this.#bytes -= byteLength
      this.#memory.takeBack(byteLength)
    }
  }
}
