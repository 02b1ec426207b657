import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { Pauses } from '../../src/storage/give-way.ts'

/** Tasks of queries: more than there are processors. */
const many = 10_000

function shared(value: number): Int32Array {
  const numbers = new Int32Array(new SharedArrayBuffer(4))
  numbers[0] = value
  return numbers
}

/** A thread that ends all queries some time after it is told to. */
async function startQueries(running: Int32Array): Promise<() => void> {
  const told = shared(0)
  const source = `
    const { parentPort, workerData: { running, told } } = require('node:worker_threads')
    parentPort.postMessage('ready')
    Atomics.wait(told, 0, 0)
    Atomics.wait(told, 0, 1, 50)
    while (Atomics.load(running, 0) > 0) {
      Atomics.sub(running, 0, 1)
      Atomics.notify(running, 0)
    }
  `
  const worker = new Worker(source, { eval: true, workerData: { running, told } })
  onTestFinished(async () => void (await worker.terminate()))
  await once(worker, 'message')
  return () => {
    Atomics.store(told, 0, 1)
    Atomics.notify(told, 0)
  }
}

test('a thread that gives way goes on when no query runs any more', async () => {
  const running = shared(many)
  const pauses = new Pauses(running, 60_000)
  const endQueries = await startQueries(running)
  endQueries()
  pauses.take()
  expect(Atomics.load(running, 0)).toBeLessThan(many)
  // It waits for no more than it must: where there are many processors, not for the last of them.
  pauses.take()
})

test('it does not wait for queries that never end', () => {
  const running = shared(many)
  const pauses = new Pauses(running, 20)
  for (let i = 0; i < 5; i++) pauses.take()
  expect(Atomics.load(running, 0)).toBe(many)
})
