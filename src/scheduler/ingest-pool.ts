/** The threads that do what inserts need before and after they are written, apart from queries. */
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { AssayError } from '../error.ts'
import type { FreshSpan } from '../storage/fresh-part.ts'
import type {
  IngestTask,
  PreparedRequest,
  PrepareOptions,
  PrepareOutcome,
  PrepareOutcomes,
  SealOutcome,
  UnpreparedRequest,
} from '../storage/prepare.ts'

/**
 * A body of so many bytes moves to the other thread; a smaller one is copied, because all typed
 * arrays of a thread become slow when memory of one is detached.
 */
const movedBytes = 32 * 2 ** 20

/** A body that comes alone is prepared in the calling thread if it is no larger. */
const inlineBytes = 64 * 1024
/** Beside other inserts, only what takes no longer than to hand it over. */
const inlineBytesBeside = 4 * 1024

/** Smaller bodies that wait for a thread are given to it together, so many bytes of them. */
const groupBytes = 512 * 1024

interface Waiting {
  readonly request: UnpreparedRequest
  readonly resolve: (prepared: PreparedRequest) => void
  readonly reject: (error: unknown) => void
}

export class IngestPool {
  readonly #pool: Piscina
  readonly #threads: number
  #waiting: Waiting[] = []
  /** Groups that threads have. */
  #groups = 0

  constructor(directory: string, threads: number) {
    this.#threads = threads
    this.#pool = new Piscina({
      filename: fileURLToPath(
        new URL(`../../workers/ingest${import.meta.url.slice(-3)}`, import.meta.url),
      ),
      workerData: { directory },
      // Made when they are needed: a service that is only read from needs none.
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: Number.POSITIVE_INFINITY,
    })
  }

  /**
   * Whether a body is to be prepared here and not in the calling thread.
   *
   * @param isBusy whether other inserts are under way
   */
  takes({ length }: Uint8Array, isBusy: boolean): boolean {
    return length > (isBusy || this.#groups > 0 ? inlineBytesBeside : inlineBytes)
  }

  /** Prepares the rows of `body`, whose memory may be taken. */
  async prepare(body: Uint8Array, options: PrepareOptions): Promise<PreparedRequest> {
    const request = { body, options }
    if (body.length < groupBytes) {
      return new Promise((resolve, reject) => {
        this.#waiting.push({ request, resolve, reject })
        this.#sendGroups()
      })
    }
    const isMoved = body.length >= movedBytes && body.length === body.buffer.byteLength
    const [outcome] = await this.#run([request], isMoved ? [body.buffer as ArrayBuffer] : [])
    if ('error' in outcome!) throw AssayError.fromWire(outcome.error)
    return outcome!
  }

  /** No more than there are threads, so that what comes meanwhile waits here and is put together. */
  #sendGroups(): void {
    while (this.#waiting.length > 0 && this.#groups < this.#threads) {
      this.#groups++
      this.#prepareGroup(this.#nextGroup()).finally(() => {
        this.#groups--
        this.#sendGroups()
      })
    }
  }

  #nextGroup(): Waiting[] {
    let bytes = 0
    let count = 0
    for (const { request } of this.#waiting) {
      bytes += request.body.length
      if (count > 0 && bytes > groupBytes) break
      count++
    }
    return this.#waiting.splice(0, count)
  }

  async #prepareGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#run(group.map(({ request }) => request))
      group.forEach(({ resolve, reject }, i) => {
        const outcome = outcomes[i]!
        if ('error' in outcome) reject(AssayError.fromWire(outcome.error))
        else resolve(outcome)
      })
    } catch (thrown) {
      for (const { reject } of group) reject(thrown)
    }
  }

  async #run(
    requests: readonly UnpreparedRequest[],
    transferList: readonly ArrayBuffer[] = [],
  ): Promise<readonly PrepareOutcome[]> {
    const task: IngestTask = { kind: 'prepare', requests }
    const options = { transferList: [...transferList] }
    const answer = (await this.#pool.run(task, options)) as PrepareOutcomes | SealOutcome
    if ('error' in answer) throw AssayError.fromWire(answer.error)
    return (answer as PrepareOutcomes).outcomes
  }

  /** The rows that were written in these spans, as a fresh part; undefined when there are none. */
  async seal(spans: readonly FreshSpan[]): Promise<SharedArrayBuffer | undefined> {
    const task: IngestTask = { kind: 'seal', spans }
    const outcome = (await this.#pool.run(task)) as SealOutcome
    if ('error' in outcome) throw AssayError.fromWire(outcome.error)
    return outcome.memory
  }

  async close(): Promise<void> {
    await this.#pool.close()
    await this.#pool.destroy()
  }
}
