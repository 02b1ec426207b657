/** The memory of memtables, from one to the next. */
import { SharedMemory } from '../../storage/shared-memory.ts'

/** Address space: of each piece as much is filled as columns take, which is less than the JSON that it has room for. */
const mostBytes = 512 * 2 ** 20

export function newMemtableMemory(): SharedMemory {
  return new SharedMemory(mostBytes)
}

/** That of parts which were flushed, and which queries that began before may still read. */
export class RetiredMemory {
  readonly #memory: SharedMemory
  /** Numbers of the readers that are not done, ascending. */
  readonly #readers = new Set<number>()
  #nextReader = 0
  /** The oldest first, each with the first reader that cannot read it. */
  #retired: { readonly memory: SharedArrayBuffer; readonly unread: number }[] = []

  constructor(memory: SharedMemory) {
    this.#memory = memory
  }

  /** A reader of all that is not retired yet; returns what is to be called once it is done. */
  addReader(): () => void {
    const reader = this.#nextReader++
    this.#readers.add(reader)
    return () => {
      if (this.#readers.delete(reader)) this.#giveBack()
    }
  }

  /** Gives the memory back as soon as nobody reads it. */
  retire(memories: readonly SharedArrayBuffer[]): void {
    for (const memory of memories) this.#retired.push({ memory, unread: this.#nextReader })
    this.#giveBack()
  }

  #giveBack(): void {
    const [oldest = this.#nextReader] = this.#readers
    const read = this.#retired.findIndex(({ unread }) => oldest < unread)
    const free = this.#retired.splice(0, read < 0 ? this.#retired.length : read)
    for (const { memory } of free) this.#memory.giveBack(memory)
  }
}
