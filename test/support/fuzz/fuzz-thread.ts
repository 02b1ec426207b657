/**
 * Runs inputs through targets, one after the other, until the time of each is over. What it is at lies in
 * shared memory, so that whoever waits can tell which input holds it up or has ended it.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { Coverage } from './coverage.ts'
import { type FuzzResult, type FuzzTask, inputStart } from './fuzz-task.ts'
import { Mutator } from './mutator.ts'
import { type FuzzTarget, targets } from './targets.ts'

/** Asking what has run takes some milliseconds, so it is asked for many inputs at once. */
const inputsPerLook = 256

/** However busy the machine is. */
const fewestInputs = 64

class Fuzzer {
  readonly #target: FuzzTarget
  readonly #mutator: Mutator
  readonly #head: Int32Array
  readonly #place: Uint8Array
  readonly #coverage: Coverage | undefined
  #inputs = 0
  #accepted = 0
  #longestMs = 0

  constructor(target: FuzzTarget, seed: number, shared: SharedArrayBuffer) {
    this.#target = target
    this.#mutator = new Mutator(seed, target.seeds(), target.words)
    this.#head = new Int32Array(shared, 0, 3)
    this.#place = new Uint8Array(shared, inputStart)
    this.#coverage = target.isGuided ? new Coverage() : undefined
  }

  async run(ms: number): Promise<Omit<FuzzResult, 'target'>> {
    const end = performance.now() + ms
    const seeds = this.#target.seeds()
    for (const seed of seeds) await this.#try(Buffer.from(seed))
    this.#coverage?.news()
    const isOver = () =>
      performance.now() > end && this.#inputs >= Math.min(seeds.length, fewestInputs) + fewestInputs
    while (!isOver()) {
      const batch = Array.from({ length: inputsPerLook }, () => this.#mutator.next())
      for (const input of batch) {
        if (isOver()) break
        await this.#try(input)
      }
      const news = this.#coverage?.news()
      if (news && news.size > 0) this.#mutator.keep(await this.#firstWith(news, batch))
    }
    this.#coverage?.close()
    return {
      inputs: this.#inputs,
      accepted: this.#accepted,
      corpus: this.#mutator.corpusSize,
      blocks: this.#coverage?.size ?? 0,
      longestMs: this.#longestMs,
    }
  }

  /** The input that runs one of these blocks, by halving. */
  async #firstWith(blocks: ReadonlySet<string>, batch: readonly Buffer[]): Promise<Buffer> {
    if (batch.length === 1) return batch[0]!
    const half = batch.length >> 1
    for (const input of batch.slice(0, half)) await this.#try(input)
    const rest = this.#coverage!.hasRun(blocks) ? batch.slice(0, half) : batch.slice(half)
    return this.#firstWith(blocks, rest)
  }

  async #try(input: Buffer): Promise<void> {
    this.#place.set(input)
    this.#head[2] = input.length
    Atomics.add(this.#head, 0, 1)
    this.#inputs++
    const used = process.cpuUsage()
    const begin = performance.now()
    try {
      await this.#target.run(input)
      this.#accepted++
    } catch (thrown) {
      if (!this.#target.isRefusal(thrown)) throw thrown
    }
    const ms = performance.now() - begin
    if (ms <= this.#longestMs) return
    // The machine may be busy with something else: what counts is the time of this process.
    const { user, system } = process.cpuUsage(used)
    this.#longestMs = Math.max(this.#longestMs, Math.min(ms, (user + system) / 1000))
  }
}

// Most inputs are refused, and nobody reads where.
Error.stackTraceLimit = 8
const task = workerData as FuzzTask
for (const [i, name] of task.targets.entries()) {
  new Int32Array(task.shared)[1] = i
  const result = await new Fuzzer(targets[name]!, task.seed + i, task.shared).run(task.ms)
  parentPort!.postMessage({ target: name, ...result } satisfies FuzzResult)
}
