/** How fast this machine reads memory from JavaScript: what a scan of a column is held against. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

const doublesPerThread = 16 << 20
const rounds = 5

const program = `
const { parentPort, workerData } = require('node:worker_threads')
const values = new Float64Array(workerData.count).fill(1.5)
function sum(values) {
  let a = 0, b = 0, c = 0, d = 0
  for (let i = 0; i < values.length; i += 4) {
    a += values[i]; b += values[i + 1]; c += values[i + 2]; d += values[i + 3]
  }
  return a + b + c + d
}
sum(values)
parentPort.on('message', () => parentPort.postMessage(sum(values)))
parentPort.postMessage('ready')
`

/** Bytes per second that so many threads sum together, as doubles: the best of a few rounds. */
export async function memoryBandwidth(threads: number): Promise<number> {
  const workers = Array.from(
    { length: threads },
    () => new Worker(program, { eval: true, workerData: { count: doublesPerThread } }),
  )
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now()
    const answers = workers.map((worker) => once(worker, 'message'))
    for (const worker of workers) worker.postMessage('go')
    await Promise.all(answers)
    best = Math.min(best, performance.now() - begin)
  }
  await Promise.all(workers.map((worker) => worker.terminate()))
  return (threads * doublesPerThread * 8 * 1000) / best
}
