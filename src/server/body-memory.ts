import { SharedMemory } from '../storage/shared-memory.ts'

/** Bodies that are smaller go together, and are copied. */
const fewestBytes = 128 * 1024

/** Behind a body there is so many times its length for what threads make of it: rows take 1.6 times as much. */
const roomPerByte = 2
const step = 2 ** 20

/** All that there is, whether it is in use or not. */
const mostBytes = 64 * 2 ** 20

/**
 * Memory of large bodies of rows that threads share, so that neither a body nor its rows are copied from thread to
 * thread.
 */
export class BodyMemory {
  readonly #memory = new SharedMemory(mostBytes)

  /**
   * So many bytes, whose buffer goes on behind them where that is not too much; undefined where other memory serves as
   * well, or there is none left.
   */
  take(bytes: number): Buffer | undefined {
    if (bytes < fewestBytes) return undefined
    const memory =
      this.#memory.take(inSteps(bytes * (1 + roomPerByte))) ?? this.#memory.take(inSteps(bytes))
    return memory && Buffer.from(memory, 0, bytes)
  }

  /** Takes back what `take` gave, which nobody reads any more. */
  giveBack({ buffer }: Buffer): void {
    this.#memory.giveBack(buffer)
  }
}

function inSteps(bytes: number): number {
  return Math.ceil(bytes / step) * step
}
