/**
 * Whole answers of live queries, each made once for all who wait for the same. Two queries wait for the
 * same if their plans are equal, which says that what they may read is; each still asks for its own
 * rights before it takes one. An answer is given again until something is written to what it is of.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Engine, QueryRequest, QueryResult, QuerySummary } from '../../engine.ts'
import type { RowChunk } from '../../scheduler/answer/answer-frame.ts'

export interface SharedAnswer {
  /** The version up to which it has everything. */
  readonly through: string
  readonly result: QueryResult
  readonly chunks: readonly RowChunk[]
  readonly digest: string
  readonly summary: QuerySummary
  /** How long it took, in milliseconds. */
  readonly took: number
}

/** Longer answers are each sent as they are made. */
export const longestShared = 2 ** 20

const keptBytes = 64 * 2 ** 20

interface Run {
  readonly answer: Promise<SharedAnswer | undefined>
  readonly ending: AbortController
  waiting: number
  stopListening?: () => void
}

interface Kept {
  readonly answer: SharedAnswer
  readonly stopListening: () => void
}

export class SharedAnswers {
  readonly #engine: Engine
  readonly #turn: () => Promise<() => void>
  readonly #runs = new Map<string, Run>()
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: keptBytes,
    dispose: ({ stopListening }) => stopListening(),
  })

  /** @param turn resolves when a query may run; what is returned ends the turn */
  constructor(engine: Engine, turn: () => Promise<() => void>) {
    this.#engine = engine
    this.#turn = turn
  }

  /**
   * Undefined when the answer is too long to be shared, or is not the same for all who wait for it: each
   * then has to ask for its own. Throws the query's faults, and when the caller may not ask it any more.
   */
  async take(request: QueryRequest, signal: AbortSignal): Promise<SharedAnswer | undefined> {
    const key = this.#keyOf(request)
    const kept = this.#kept.get(key)
    if (kept) return kept.answer
    const run = this.#runs.get(key) ?? this.#begin(key, request)
    run.waiting++
    const leave = () => {
      if (--run.waiting > 0) return
      this.#forget(key, run)
      run.ending.abort(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    try {
      return await run.answer
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** Equal for queries that give equal answers at all times. */
  #keyOf(request: QueryRequest): string {
    const { view: _, signal: __, ...options } = request
    return `${this.#engine.watch(request).identity()} ${JSON.stringify(options)}`
  }

  #begin(key: string, request: QueryRequest): Run {
    const ending = new AbortController()
    const run: Run = {
      // After this turn, so that the run is known to itself.
      answer: Promise.resolve().then(() => this.#make(key, run, request)),
      ending,
      waiting: 0,
    }
    this.#runs.set(key, run)
    return run
  }

  async #make(key: string, run: Run, request: QueryRequest): Promise<SharedAnswer | undefined> {
    try {
      const done = await this.#turn()
      try {
        const { signal } = run.ending
        signal.throwIfAborted()
        // Planned for another moment or with other rights, it would not be what the others wait for.
        if (this.#keyOf(request) !== key) return undefined
        const { objects } = this.#engine.watch(request)
        const numbers = objects.map(({ number }) => number)
        run.stopListening = this.#engine.onWrite(numbers, () => this.#outdated(key, run))
        const answer = await this.#collect({ ...request, signal })
        if (answer && this.#runs.get(key) === run) this.#keep(key, run, answer)
        return answer
      } finally {
        done()
      }
    } finally {
      this.#forget(key, run)
    }
  }

  async #collect(request: QueryRequest): Promise<SharedAnswer | undefined> {
    const started = performance.now()
    // From here to the query nothing else runs, so that both are of one moment.
    const through = this.#engine.lastTransactionId()
    const result = await this.#engine.query({ ...request, version: through })
    const digest = createHash('sha1')
    const chunks: RowChunk[] = []
    let length = 0
    for await (const chunk of result.rows) {
      length += chunk.bytes.length
      if (length > longestShared) return undefined
      digest.update(chunk.bytes)
      chunks.push(chunk)
    }
    const took = performance.now() - started
    return { through, result, chunks, digest: digest.digest('hex'), summary: result.finish(), took }
  }

  /** For who comes later, as long as it is true. */
  #keep(key: string, run: Run, answer: SharedAnswer): void {
    const { stopListening } = run
    if (!stopListening) return
    delete run.stopListening
    const length = answer.chunks.reduce((sum, { bytes }) => sum + bytes.length, 0)
    this.#kept.set(key, { answer, stopListening }, { size: 1024 + key.length + length })
  }

  #outdated(key: string, run: Run): void {
    this.#kept.delete(key)
    this.#forget(key, run)
  }

  /** Nobody joins it any more. */
  #forget(key: string, run: Run): void {
    run.stopListening?.()
    delete run.stopListening
    if (this.#runs.get(key) === run) this.#runs.delete(key)
  }
}
