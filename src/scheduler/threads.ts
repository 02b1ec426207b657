/** Pools of threads that run one of the modules of `workers/`. */
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'

export type Threads = Piscina

export interface ThreadsOptions {
  /** What each thread is started with. */
  readonly data: object
  /** How many there are from the start, and how many are made when there is work for them. */
  readonly least: number
  readonly most: number
}

/** The threads stay until the pool is destroyed. */
export function openThreads(
  worker: 'query' | 'ingest' | 'write' | 'maintenance',
  options: ThreadsOptions,
): Threads {
  const ending = import.meta.url.slice(-3)
  return poolOf(new URL(`../../workers/${worker}${ending}`, import.meta.url), options)
}

/** The same for any module whose default export runs a task. */
export function poolOf(module: URL, { data, least, most }: ThreadsOptions): Threads {
  const pool = new Piscina({
    filename: fileURLToPath(module),
    workerData: data,
    minThreads: least,
    maxThreads: most,
    idleTimeout: Number.POSITIVE_INFINITY,
    // A thread that waits for its next task by Atomics never comes to its event loop, which is where Node
    // gives back the memory of native buffers: what LZ4 had made of 10 GB of rows was never freed.
    atomics: 'disabled',
  })
  // A thread that cannot start, as when no file can be opened, or when two open the same files for the first
  // time at once, must not end the process: it is started again. What fails in a task is the task's.
  pool.on('error', () => undefined)
  return pool
}
