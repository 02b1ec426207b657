/** Which blocks of our code this thread has run, as V8 counts them. */
import { Session } from 'node:inspector'

interface ScriptCoverage {
  readonly url: string
  readonly scriptId: string
  readonly functions: readonly {
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[]
  }[]
}

export class Coverage {
  readonly #session = new Session()
  readonly #known = new Set<string>()

  constructor() {
    this.#session.connect()
    this.#post('Profiler.enable')
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  get size(): number {
    return this.#known.size
  }

  /** Blocks that have run since it was asked last and never before. They are known from now on. */
  news(): Set<string> {
    const found = new Set<string>()
    for (const block of this.#ran()) if (!this.#known.has(block)) found.add(block)
    for (const block of found) this.#known.add(block)
    return found
  }

  /** Whether one of these blocks has run since it was asked last. */
  hasRun(blocks: ReadonlySet<string>): boolean {
    for (const block of this.#ran()) if (blocks.has(block)) return true
    return false
  }

  close(): void {
    this.#session.disconnect()
  }

  *#ran(): Generator<string> {
    const { result } = this.#post('Profiler.takePreciseCoverage') as { result: ScriptCoverage[] }
    for (const { url, scriptId, functions } of result) {
      if (!url.includes('/src/')) continue
      for (const { ranges } of functions) {
        for (const { startOffset, count } of ranges)
          if (count > 0) yield `${scriptId}:${startOffset}`
      }
    }
  }

  /** The inspector of the own thread answers at once. */
  #post(method: string, parameters: object = {}): object {
    let found: object | undefined
    this.#session.post(method, parameters, (error, result) => {
      if (error) throw error
      found = result ?? {}
    })
    return found!
  }
}
