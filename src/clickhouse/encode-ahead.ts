/** Batches that other threads encode before their turn to be sent, in the order of their ranges. */
import {
  type BatchSource,
  type EncodedBatch,
  endOfRange,
  firstBatch,
  objectsOf,
} from './batch-reader.ts'
import type { EncodeThreads } from './encode-threads.ts'
import type { Batch, Run } from './export-state.ts'

interface Ahead {
  readonly batch: Batch
  /** Undefined when it could not be encoded there. */
  readonly encoded: Promise<EncodedBatch | undefined>
}

/** Threads that nobody needed for so long are ended. */
const idleMs = 30_000

export class EncodeAhead {
  readonly #threads: EncodeThreads
  #ahead: Ahead[] = []
  /** Memory of batches that were sent, for others. */
  #rooms: SharedArrayBuffer[] = []
  #usedAt = 0

  constructor(threads: EncodeThreads) {
    this.#threads = threads
  }

  /** Begins the batch that is sent next, and some of those behind it. What is left of a run in one range is not begun. */
  begin(source: BatchSource, batch: Batch, run: Run): void {
    const { reader, transaction } = source
    if (!this.#isNext(batch)) {
      const first = firstBatch(batch.from, batch.to)
      // Unless it goes on with a range, those behind it are of another course.
      if (isSame(batch, first)) this.clear()
      if (batch.to >= run.through) return
      this.#ahead.unshift(this.#encoded(source, batch, run))
    }
    // For each thread one, and one that waits to be sent.
    while (this.#ahead.length <= this.#threads.count) {
      const from = this.#ahead.at(-1)!.batch.to
      const to = endOfRange(reader, from, run.through, transaction)
      if (to === from) return
      this.#ahead.push(this.#encoded(source, firstBatch(from, to), run))
    }
  }

  /** Undefined when it was not begun, or could not be encoded. */
  async take(batch: Batch): Promise<EncodedBatch | undefined> {
    return this.#isNext(batch) ? this.#ahead.shift()!.encoded : undefined
  }

  /** Forgets what was begun: it is not as it has to be any more. */
  clear(): void {
    this.#ahead = []
  }

  /** Takes back the memory of a batch that has arrived. */
  giveBack({ bytes: { buffer } }: EncodedBatch): void {
    if (!(buffer instanceof SharedArrayBuffer)) return
    if (this.#rooms.length <= this.#threads.count) this.#rooms.push(buffer)
  }

  /** Ends threads and lets go of memory that was not used lately. */
  async rest(): Promise<void> {
    if (performance.now() - this.#usedAt > idleMs) await this.close()
  }

  async close(): Promise<void> {
    this.clear()
    this.#rooms = []
    await this.#threads.close()
  }

  #isNext(batch: Batch): boolean {
    const [next] = this.#ahead
    return next !== undefined && isSame(next.batch, batch)
  }

  #encoded({ reader, transaction, isThere }: BatchSource, batch: Batch, run: Run): Ahead {
    this.#usedAt = performance.now()
    const objects = objectsOf(reader, batch.from, batch.to, transaction).filter(isThere)
    const memory = this.#rooms.pop() ?? new SharedArrayBuffer(0)
    const encoded = this.#threads.encode({ batch, run, objects, memory }).then(
      (found) => found,
      () => undefined,
    )
    return { batch, encoded }
  }
}

function isSame(a: Batch, b: Batch): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
