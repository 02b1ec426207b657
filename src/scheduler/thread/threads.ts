/** Pools of threads that run one of the modules of `workers/`. */
import { fileURLToPath } from 'node:url'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import type { Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { codeFile } from '../../installation.ts'

/**
 * A pool of threads. It ends none before it has started: a thread that is ended while it loads a native addon takes the
 * process with it.
 */
export class Threads extends Piscina {
  readonly #first: ReadonlySet<Worker>
  readonly #started = new WeakSet<Worker>()

  constructor(options: ConstructorParameters<typeof Piscina>[0]) {
    super(options)
    this.#first = new Set(this.threads)
    // Of these it is said that they are there before they have begun.
    for (const thread of this.#first) thread.once('message', () => this.#started.add(thread))
    this.on('workerCreate', ({ id }: { readonly id: number }) => {
      const thread = this.threads.find(({ threadId }) => threadId === id)
      if (thread && !this.#first.has(thread)) this.#started.add(thread)
    })
  }

  override async close(options?: { readonly force?: boolean }): Promise<void> {
    await this.#allStarted()
    await super.close(options)
  }

  override async destroy(): Promise<void> {
    await this.#allStarted()
    await super.destroy()
  }

  async #allStarted(): Promise<void> {
    const starting = this.threads.filter((thread) => !this.#started.has(thread))
    await Promise.all(starting.map(startOf))
  }
}

/** Resolves when the thread has started, or has failed to. */
function startOf(thread: Worker): Promise<void> {
  // It may be all that the process still waits for.
  thread.ref()
  return new Promise((resolve) => {
    thread.once('message', () => resolve())
    thread.once('exit', () => resolve())
  })
}

export interface ThreadsOptions {
  /** What each thread is started with, besides what `workers/thread-number.ts` takes. */
  readonly data: object
  /** How many there are from the start, and how many are made when there is work for them. */
  readonly least: number
  readonly most: number
  /** What V8 may hold in each, where that is less than it would take by itself. */
  readonly heapBytes?: number
}

/**
 * What a thread may have, in its objects and in arrays outside of them, before V8 looks through all of it for what
 * is needed no more. Left to itself V8 goes by the size of the objects, some ten megabytes, so that the threads of
 * inserts, to which each request is megabytes of arrays, did so after every 3 MB of JSON: a tenth of their time.
 */
const uncollectedMegabytes = 32

/**
 * What a thread may have of young objects: half of what V8 would take by itself. Fifty queries over 10 M rows take as
 * long, and the service some 100 MiB less.
 */
const youngMegabytes = 24

/** The threads stay until the pool is destroyed. */
export function openThreads(
  worker: 'query' | 'ingest' | 'write' | 'maintenance' | 'export' | 'backup',
  options: ThreadsOptions,
): Threads {
  return poolOf(codeFile(`workers/${worker}.ts`), options)
}

/** Whether V8 has ended a thread because its heap was full; another one takes its place. */
export function isOutOfHeap(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

/** The same for any module whose default export runs a task. */
export function poolOf(module: URL, { data, least, most, heapBytes }: ThreadsOptions): Threads {
  // V8 reads it when a thread starts.
  setFlagsFromString(`--initial-old-space-size=${uncollectedMegabytes}`)
  // With a thread for each core, those that help to collect young objects have none: who waits for them waits for the
  // other threads. First asks of 48 queries over 1 M rows took 0.85 of the time without, later ones 0.73 to 0.8.
  setFlagsFromString('--no-parallel-scavenge')
  const usual = getHeapStatistics().heap_size_limit
  const isLess = heapBytes !== undefined && heapBytes < usual
  const pool = new Threads({
    filename: fileURLToPath(module),
    workerData: { ...data, startedThreads: new Int32Array(new SharedArrayBuffer(4)) },
    minThreads: least,
    maxThreads: most,
    idleTimeout: Number.POSITIVE_INFINITY,
    // Otherwise the first of the tasks that wait becomes the last whenever a thread is found busy: of four clients'
    // inserts one waited until the others had no more, for seconds.
    stricterFIFO: true,
    resourceLimits: {
      maxYoungGenerationSizeMb: youngMegabytes,
      ...(isLess && { maxOldGenerationSizeMb: Math.ceil(heapBytes / 2 ** 20) }),
    },
    // A thread that waits for its next task by Atomics never comes to its event loop, which is where Node
    // gives back the memory of native buffers: what LZ4 had made of 10 GB of rows was never freed.
    atomics: 'disabled',
  })
  // A thread that cannot start, as when no file can be opened, or when two open the same files for the first
  // time at once, must not end the process: it is started again. What fails in a task is the task's.
  pool.on('error', () => undefined)
  return pool
}
