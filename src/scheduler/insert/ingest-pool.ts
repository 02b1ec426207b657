/** The threads that do what inserts need before and after they are written, apart from queries. */
import { AssayError, type WireError } from '../../error.ts'
import type { FoundMasked } from '../../storage/prepare/find-masked.ts'
import type {
  JoinedRows,
  MaskerAnswer,
  MaskerRow,
  SplitBody,
} from '../../storage/prepare/masker-rows.ts'
import type { LogRange, PreparedMemtable } from '../../storage/prepare/memtable.ts'
import type {
  FindMaskedTask,
  IngestTask,
  MaskTask,
  PreparedRequests,
  PrepareOutcome,
  SealOutcome,
  UnpreparedRequest,
} from '../../storage/prepare/prepare.ts'
import type { SharedMemory } from '../../storage/shared-memory.ts'
import type { ObjectReference } from '../../type/record.ts'
import { sharedBytes } from '../../vector/shared-columns.ts'
import { newTaskCount } from '../thread/task-count.ts'
import { openThreads, type Threads } from '../thread/threads.ts'
import { sampleBody } from './sample-rows.ts'

/**
 * A body of so many bytes moves to the other thread; a smaller one is copied, because all typed
 * arrays of a thread become slow when memory of one is detached.
 */
const movedBytes = 32 * 2 ** 20

/** Memory of memtables of fewer bytes is not shared out: there is little of it. */
const leastPartBytes = 16 * 1024
const partStep = 64 * 1024
const largestPartShare = 8

/** A body that comes alone is worked on in the thread that asks if it is no larger. */
export const inlineBytes = 64 * 1024

/** After as many bodies of sample rows most of what inserts run is compiled. */
const warmUpBodies = 4

export interface IngestPoolOptions {
  /** See `QueryPool`. */
  readonly runningTasks?: Int32Array
  /** For memtables; whoever gets them gives it back. */
  readonly memtableMemory?: SharedMemory
}

export class IngestPool {
  readonly #pool: Threads
  readonly threads: number
  readonly #memtableMemory: SharedMemory | undefined
  /**
   * Of its body, what a memtable may take: more than all where rows are so short that what is filled in is longer. What is
   * too large costs hardly anything, as only what is written to is there.
   */
  #partShare = 1
  /** Whether there was work to do, or is to be none any more. */
  #isAsked = false

  constructor(directory: string, threads: number, options: IngestPoolOptions = {}) {
    const { runningTasks = newTaskCount(), memtableMemory } = options
    this.threads = threads
    this.#memtableMemory = memtableMemory
    const data = { directory, runningTasks }
    this.#pool = openThreads('ingest', { data, least: 0, most: threads })
  }

  /** Prepares the rows of requests, whose memory may be taken. */
  prepare(requests: readonly UnpreparedRequest[]): Promise<PreparedRequests> {
    this.#isAsked = true
    return this.#prepare(requests)
  }

  /**
   * Starts the threads and lets them prepare rows that nobody wants, until somebody wants some: the first
   * body takes a thread that has done nothing yet three times as long, and its compilers ten.
   */
  async warmUp(): Promise<void> {
    const body = sampleBody()
    const object = { type: 'project_logs', id: 'sample' } as const
    const one = async () => {
      for (let i = 0; i < warmUpBodies && !this.#isAsked; i++) {
        const options = { form: 'events', object, nowMs: 0 } as const
        const { memtables } = await this.#prepare([{ body, options }])
        this.drop(memtables)
      }
    }
    await Promise.all(Array.from({ length: this.threads }, one))
  }

  async #prepare(requests: readonly UnpreparedRequest[]): Promise<PreparedRequests> {
    const moved = requests.filter(({ body: { length, buffer } }) => {
      return length >= movedBytes && length === buffer.byteLength
    })
    const transferList = moved.map(({ body }) => body.buffer as ArrayBuffer)
    const bytes = requests.reduce((sum, { body }) => sum + body.length, 0)
    return this.#withPartMemory(bytes, async (memory) => {
      const task: IngestTask = { kind: 'prepare', requests, memory }
      const outcome = (await this.#pool.run(task, { transferList })) as PrepareOutcome
      if ('error' in outcome) throw AssayError.fromWire(outcome.error)
      const memtables = outcome.memtables.map((memtable) =>
        memtable.isGiven ? { ...memtable, memory: memory! } : memtable,
      )
      return { ...outcome, memtables }
    })
  }

  /**
   * The rows that were written in these log ranges, as a memtable; undefined when there are none.
   *
   * @param bytes that rows and JSON around them have, more or less
   */
  async seal(
    logRanges: readonly LogRange[],
    bytes: number,
  ): Promise<SharedArrayBuffer | undefined> {
    this.#isAsked = true
    const sealed = await this.#withPartMemory(bytes, async (memory) => {
      const task: IngestTask = { kind: 'seal', logRanges, memory }
      const outcome = (await this.#pool.run(task)) as SealOutcome
      if ('error' in outcome) throw AssayError.fromWire(outcome.error)
      return { memtables: outcome.isGiven ? [{ memory: memory! }] : [outcome] }
    })
    return sealed.memtables[0]?.memory
  }

  /** The objects that rows of a body name. */
  async namedObjects(body: Uint8Array): Promise<readonly ObjectReference[]> {
    return (await this.#ask<{ objects: readonly ObjectReference[] }>({ kind: 'objects', body }))
      .objects
  }

  /** See `MaskTask`. */
  async mask(task: Omit<MaskTask, 'kind'>): Promise<Uint8Array> {
    return (await this.#ask<{ bytes: Uint8Array }>({ kind: 'mask', ...task })).bytes
  }

  /** See `FindMaskedTask`. */
  findMasked(task: Omit<FindMaskedTask, 'kind'>): Promise<FoundMasked> {
    return this.#ask<FoundMasked>({ kind: 'find masked', ...task })
  }

  /** See `splitRows`. */
  async splitRows(given: SplitBody): Promise<readonly MaskerRow[]> {
    return (await this.#ask<{ split: readonly MaskerRow[] }>({ kind: 'split', given })).split
  }

  /** See `joinRows`. */
  async joinRows(given: JoinedRows): Promise<Uint8Array> {
    return (await this.#ask<{ bytes: Uint8Array }>({ kind: 'join', given })).bytes
  }

  /** See `readAnswer`. */
  readAnswer(answer: Uint8Array): Promise<MaskerAnswer> {
    return this.#ask<MaskerAnswer>({ kind: 'answer', answer })
  }

  async #ask<Result extends object>(task: IngestTask): Promise<Result> {
    this.#isAsked = true
    const outcome = (await this.#pool.run(task)) as Result | { readonly error: WireError }
    if ('error' in outcome) throw AssayError.fromWire(outcome.error)
    return outcome
  }

  /** Takes back the memory of memtables that nobody reads. */
  drop(memtables: readonly PreparedMemtable[]): void {
    for (const { memory } of memtables) this.#memtableMemory?.giveBack(memory)
  }

  /** Takes the memory back unless a memtable is in it. */
  async #withPartMemory<
    Made extends {
      readonly memtables: readonly { readonly memory: SharedArrayBuffer | undefined }[]
    },
  >(bytes: number, make: (memory: SharedArrayBuffer | undefined) => Promise<Made>): Promise<Made> {
    const needed = Math.ceil((bytes * this.#partShare) / partStep) * partStep
    const memory = bytes < leastPartBytes ? undefined : this.#memtableMemory?.take(needed)
    let made: Made | undefined
    try {
      made = await make(memory)
      for (const memtable of made.memtables) this.#noteShare(memtable.memory, bytes)
      return made
    } finally {
      const isUsed = made?.memtables.some((memtable) => memtable.memory === memory)
      if (memory && !isUsed) this.#memtableMemory?.giveBack(memory)
    }
  }

  #noteShare(memtable: SharedArrayBuffer | undefined, bytes: number): void {
    const share = memtable ? sharedBytes(memtable) / bytes : 0
    if (share > this.#partShare) this.#partShare = Math.min(largestPartShare, share * 1.1)
  }

  async close(): Promise<void> {
    this.#isAsked = true
    await this.#pool.close()
    await this.#pool.destroy()
  }
}
