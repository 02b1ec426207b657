/** What this machine can do from JavaScript: what a scan, and a second thread, are held against. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

const rounds = 5

/** What a thread sums in a round: so many doubles, so many times. */
interface Work {
  readonly doubles: number
  readonly passes: number
}

const beyondCaches: Work = { doubles: 16 << 20, passes: 1 }
const withinCaches: Work = { doubles: 2048, passes: 32_768 }

const program = `
const { parentPort, workerData } = require('node:worker_threads')
const values = new Float64Array(workerData.doubles).fill(1.5)
function sum(values) {
  let a = 0, b = 0, c = 0, d = 0
  for (let i = 0; i < values.length; i += 4) {
    a += values[i]; b += values[i + 1]; c += values[i + 2]; d += values[i + 3]
  }
  return a + b + c + d
}
function work() {
  let total = 0
  for (let pass = 0; pass < workerData.passes; pass++) total += sum(values)
  return total
}
work()
parentPort.on('message', () => parentPort.postMessage(work()))
parentPort.postMessage('ready')
`

/** Bytes per second that so many threads sum together, as doubles in memory: the best of a few rounds. */
export async function memoryBandwidth(threads: number): Promise<number> {
  return (threads * beyondCaches.doubles * 8 * 1000) / (await leastTime(threads, beyondCaches))
}

/**
 * How many times as much so many threads do as one, if they share no memory: the number of threads on as
 * many idle cores, less on cores that are threads of one or that other machines use, too.
 */
export async function threadSpeedup(threads: number): Promise<number> {
  const alone = await leastTime(1, withinCaches)
  return (threads * alone) / (await leastTime(threads, withinCaches))
}

/** Milliseconds until all threads have done a round. */
async function leastTime(threads: number, work: Work): Promise<number> {
  const workers = Array.from(
    { length: threads },
    () => new Worker(program, { eval: true, workerData: work }),
  )
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now()
    const answers = workers.map((worker) => once(worker, 'message'))
    for (const worker of workers) worker.postMessage('go')
    await Promise.all(answers)
    least = Math.min(least, performance.now() - begin)
  }
  await Promise.all(workers.map((worker) => worker.terminate()))
  return least
}
