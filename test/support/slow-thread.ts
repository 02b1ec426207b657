/** A thread that takes its time to start, and tells when it has. */
import { setTimeout } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'

const { started } = workerData as { readonly started: Int32Array }
await setTimeout(300)
Atomics.add(started, 0, 1)

export default function answer(): number {
  return Atomics.load(started, 0)
}
