/** The threads that do what inserts need before and after they are written, apart from queries. */
import { AssayError } from '../../error.ts'
import type { FreshSpan } from '../../storage/prepare/fresh-part.ts'
import type {
  IngestTask,
  PreparedRequests,
  PrepareOutcome,
  SealOutcome,
  UnpreparedRequest,
} from '../../storage/prepare/prepare.ts'
import { newTaskCount } from '../thread/task-count.ts'
import { openThreads, type Threads } from '../thread/threads.ts'
import { sampleBody } from './sample-rows.ts'

/**
 * A body of so many bytes moves to the other thread; a smaller one is copied, because all typed
 * arrays of a thread become slow when memory of one is detached.
 */
const movedBytes = 32 * 2 ** 20

/** After as many bodies of sample rows most of what inserts run is compiled. */
const warmUpBodies = 4

export class IngestPool {
  readonly #pool: Threads
  readonly threads: number
  /** Whether there was work to do, or is to be none any more. */
  #isAsked = false

  /** @param runningTasks see `QueryPool` */
  constructor(directory: string, threads: number, runningTasks = newTaskCount()) {
    this.threads = threads
    const data = { directory, runningTasks }
    this.#pool = openThreads('ingest', { data, least: 0, most: threads })
  }

  /** Prepares the rows of requests, whose memory may be taken. */
  prepare(requests: readonly UnpreparedRequest[]): Promise<PreparedRequests> {
    this.#isAsked = true
    return this.#prepare(requests)
  }

  /**
   * Starts the threads and lets them prepare rows that nobody wants, until somebody wants some: the first
   * body takes a thread that has done nothing yet three times as long, and its compilers ten.
   */
  async warmUp(): Promise<void> {
    const body = sampleBody()
    const object = { type: 'project_logs', id: 'sample' } as const
    const one = async () => {
      for (let i = 0; i < warmUpBodies && !this.#isAsked; i++) {
        await this.#prepare([{ body, options: { form: 'events', object, nowMs: 0 } }])
      }
    }
    await Promise.all(Array.from({ length: this.threads }, one))
  }

  async #prepare(requests: readonly UnpreparedRequest[]): Promise<PreparedRequests> {
    const task: IngestTask = { kind: 'prepare', requests }
    const moved = requests.filter(({ body: { length, buffer } }) => {
      return length >= movedBytes && length === buffer.byteLength
    })
    const transferList = moved.map(({ body }) => body.buffer as ArrayBuffer)
    const outcome = (await this.#pool.run(task, { transferList })) as PrepareOutcome
    if ('error' in outcome) throw AssayError.fromWire(outcome.error)
    return outcome
  }

  /** The rows that were written in these spans, as a fresh part; undefined when there are none. */
  async seal(spans: readonly FreshSpan[]): Promise<SharedArrayBuffer | undefined> {
    this.#isAsked = true
    const task: IngestTask = { kind: 'seal', spans }
    const outcome = (await this.#pool.run(task)) as SealOutcome
    if ('error' in outcome) throw AssayError.fromWire(outcome.error)
    return outcome.memory
  }

  async close(): Promise<void> {
    this.#isAsked = true
    await this.#pool.close()
    await this.#pool.destroy()
  }
}
