import { workerData } from 'node:worker_threads'

const { startedThreads } = workerData as { readonly startedThreads: Int32Array }

/**
 * How many threads of the pool were started before this one: from 0 on, whatever else was started, and beyond the
 * size of the pool only for one that took the place of another.
 */
export const threadNumber = Atomics.add(startedThreads, 0, 1)
