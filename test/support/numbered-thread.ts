/** A thread that tells its number once all threads that are waited for have this task. */
import { threadNumber } from '../../workers/thread-number.ts'

export interface Meeting {
  readonly arrived: Int32Array
  readonly threads: number
}

export default function tellNumber({ arrived, threads }: Meeting): number {
  if (Atomics.add(arrived, 0, 1) + 1 === threads) Atomics.notify(arrived, 0)
  for (let count = Atomics.load(arrived, 0); count < threads; count = Atomics.load(arrived, 0)) {
    Atomics.wait(arrived, 0, count, 1000)
  }
  return threadNumber
}
