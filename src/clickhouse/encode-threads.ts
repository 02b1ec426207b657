/** Threads that encode batches while others are sent. They are started when there is work for them, and end when told. */
import { Worker } from 'node:worker_threads'
import { codeFile } from '../installation.ts'
import type { EncodedBatch } from './batch-reader.ts'
import type { EncodeOutcome, EncodeTask } from './encode-task.ts'

const heapMegabytes = 256
const youngMegabytes = 16

interface Waiting {
  readonly task: EncodeTask
  readonly resolve: (encoded: EncodedBatch) => void
  readonly reject: (fault: Error) => void
}

export class EncodeThreads {
  readonly #directory: string
  readonly #most: number
  readonly #threads = new Map<Worker, Waiting | undefined>()
  #waiting: Waiting[] = []
  #wake: (() => void) | undefined

  /** @param most how many threads there are */
  constructor(directory: string, most: number) {
    this.#directory = directory
    this.#most = most
  }

  get count(): number {
    return this.#most
  }

  encode(task: EncodeTask): Promise<EncodedBatch> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject })
      this.#next()
    })
  }

  /** Ends all threads, once each has done what it is at; nothing else is encoded. */
  async close(): Promise<void> {
    for (const { reject } of this.#waiting) reject(new Error('the threads are ended'))
    this.#waiting = []
    while ([...this.#threads.values()].some(Boolean)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const threads = [...this.#threads.keys()]
    this.#threads.clear()
    await Promise.all(threads.map((thread) => thread.terminate()))
  }

  #next(): void {
    for (const waiting of this.#waiting.splice(0)) {
      const thread = this.#idleThread()
      if (!thread) this.#waiting.push(waiting)
      else {
        this.#threads.set(thread, waiting)
        thread.postMessage(waiting.task)
      }
    }
  }

  #idleThread(): Worker | undefined {
    for (const [thread, waiting] of this.#threads) if (!waiting) return thread
    return this.#threads.size < this.#most ? this.#start() : undefined
  }

  #start(): Worker {
    const thread = new Worker(codeFile('workers/encode.ts'), {
      workerData: { directory: this.#directory },
      resourceLimits: {
        maxOldGenerationSizeMb: heapMegabytes,
        maxYoungGenerationSizeMb: youngMegabytes,
      },
    })
    thread.on('message', (outcome: EncodeOutcome) => {
      if ('error' in outcome) this.#done(thread)?.reject(new Error(outcome.error))
      else this.#done(thread)?.resolve(outcome.encoded)
      this.#next()
    })
    thread.on('error', (fault) => this.#ended(thread, fault))
    thread.on('exit', () => this.#ended(thread, new Error('the thread has ended')))
    // Whoever waits for it keeps the process.
    thread.unref()
    return thread
  }

  /** What the thread was at. */
  #done(thread: Worker): Waiting | undefined {
    const waiting = this.#threads.get(thread)
    this.#threads.set(thread, undefined)
    this.#wake?.()
    return waiting
  }

  #ended(thread: Worker, fault: unknown): void {
    if (!this.#threads.has(thread)) return
    const waiting = this.#done(thread)
    this.#threads.delete(thread)
    waiting?.reject(fault instanceof Error ? fault : new Error(String(fault)))
    this.#next()
  }
}
