import { AssayError } from '../../error.ts'
import { runTask } from '../../executor/run-task.ts'
import { givenBytes } from '../../executor/task/held-bytes.ts'
import { packTask } from '../../executor/task/packed-task.ts'
import type {
  AnswerResult,
  AnswerTask,
  FinishResult,
  FinishTask,
  GroupsResult,
  InferFormResult,
  InferFormTask,
  OrderResult,
  PrintResult,
  PrintTask,
  RowsResult,
  ScanTask,
  TakeGroupsResult,
  TakeGroupsTask,
  Task,
  TaskOutcome,
  UnifyResult,
  UnifyTask,
} from '../../executor/task/task.ts'
import { outOfMemory } from '../../executor/thread/memory-limit.ts'
import { limitTurn } from '../../json/turn-limit.ts'
import type { TaskReads } from '../../storage/read/task-reads.ts'
import { FairQueue } from '../admission/fair-queue.ts'
import type { RunningQuery } from '../admission/running-query.ts'
import { inlineBytes, taskMs } from '../cost/cost.ts'
import { Dictionaries } from './dictionaries.ts'
import { newTaskCount } from './task-count.ts'
import { isOutOfHeap, openThreads, type Threads } from './threads.ts'

export type ResultOf<T extends Task> = T extends ScanTask
  ? GroupsResult | RowsResult
  : T extends TakeGroupsTask
    ? TakeGroupsResult
    : T extends PrintTask
      ? PrintResult
      : T extends InferFormTask
        ? InferFormResult
        : T extends FinishTask
          ? FinishResult
          : T extends UnifyTask
            ? UnifyResult
            : T extends AnswerTask
              ? AnswerResult
              : OrderResult

/** Below this a thread has no room for its code and the usual batches. */
const leastHeapBytes = 512 * 2 ** 20

/** What runs the tasks of one query, or of none. */
export interface TaskRunner {
  /** How many threads; 0: tasks run in this one. */
  readonly workers: number
  /** One number in shared memory: how many tasks wait for a worker. */
  readonly waiting: Int32Array
  /** Those that all tasks share. */
  readonly dictionaries: Dictionaries
  /**
   * Runs a task on a worker, or, when it is expected to be `short`, in this thread, which saves the way
   * to another; where what it was given is much, or its values turn out to be long, on a worker nevertheless.
   */
  run<T extends Task>(task: T, short?: boolean): Promise<ResultOf<T>>
  /** Reads something short in this thread. */
  read<Result>(work: (reads: TaskReads) => Result): Result
  /** See `storage/segment/key-index.ts`. */
  findKeys(
    path: readonly string[],
    texts: readonly string[],
  ): ReadonlyMap<number, ReadonlySet<number>>
}

/**
 * The most by which a task stands back behind those that come later. A query stands back by the time
 * that its task is expected to take and that its earlier ones took, so what is short, and what has had
 * little, goes first; but never by more than this, so that nothing waits forever.
 */
const longestHandicapMs = 2000

interface WaitingTask {
  readonly query: RunningQuery | undefined
  readonly start: () => void
  readonly giveUp: (reason: AssayError) => void
}

/**
 * Runs tasks on worker threads, as many at a time as there are, or in this thread when there are none.
 * The tasks that wait do so here, in an order that is fair between queries.
 */
export class QueryPool implements TaskRunner {
  readonly workers: number
  readonly dictionaries = new Dictionaries(this)
  readonly #pool: Threads | undefined
  readonly #reads: TaskReads
  readonly waiting = new Int32Array(new SharedArrayBuffer(4))
  readonly #queue = new FairQueue<WaitingTask>()
  readonly #runningTasks: Int32Array

  /**
   * @param workers how many threads; 0 runs tasks in this one
   * @param reads what tasks in this thread read from
   * @param runningTasks one number in shared memory, kept here, by which other threads let queries go first
   * @param budgetBytes what one query may hold: no thread needs to have more in its heap
   */
  constructor(
    directory: string,
    workers: number,
    reads: TaskReads,
    runningTasks = newTaskCount(),
    budgetBytes = Number.POSITIVE_INFINITY,
  ) {
    this.#runningTasks = runningTasks
    this.workers = workers
    this.#reads = reads
    this.#pool =
      workers === 0
        ? undefined
        : openThreads('query', {
            data: { directory },
            least: workers,
            most: workers,
            heapBytes: Math.max(leastHeapBytes, budgetBytes),
          })
  }

  /** The pool for other work of short duration, such as parsing bodies; undefined without threads. */
  get threads(): Threads | undefined {
    return this.#pool
  }

  /** Tasks on workers. */
  get runningTasks(): number {
    return this.#running
  }

  get waitingTasks(): number {
    return this.#queue.size
  }

  async run<T extends Task>(task: T, short = false): Promise<ResultOf<T>> {
    const { outcome } = await this.runFor(undefined, task, short)
    return resultOf<T>(outcome)
  }

  /**
   * Runs a task of a query.
   *
   * @returns what came of it, and the milliseconds that a worker took
   */
  async runFor<T extends Task>(
    query: RunningQuery | undefined,
    task: T,
    short: boolean,
  ): Promise<{ readonly outcome: TaskOutcome; readonly workerMs: number }> {
    const pool = this.#pool
    if (!pool) return { outcome: this.#runHere(task), workerMs: 0 }
    if (short && givenBytes(task) <= inlineBytes) {
      const outcome = limitTurn(() => this.#runHere(task))
      if (!('error' in outcome && outcome.error.code === 'LIMIT_TURN')) {
        return { outcome, workerMs: 0 }
      }
    }
    await this.#turn(query, taskMs(task))
    const started = performance.now()
    try {
      const outcomes = (await pool.run(packTask(task))) as TaskOutcome[]
      // Taken out, as the pool's record of the task has the list until V8 looks through all of the thread's memory:
      // what weak references lead to, as Node has one to each such record, outlives looks among what is young.
      const outcome = outcomes.pop()!
      return { outcome, workerMs: performance.now() - started }
    } catch (thrown) {
      throw isOutOfHeap(thrown) ? outOfMemory(thrown) : thrown
    } finally {
      Atomics.sub(this.#runningTasks, 0, 1)
      Atomics.notify(this.#runningTasks, 0)
      this.#startNext()
    }
  }

  #runHere(task: Task): TaskOutcome {
    return this.#reads.during((reads) => runTask(task, reads))
  }

  /** When a task that is expected to take `taskMs` should be begun, by `performance.now()`. */
  dueTime(query: RunningQuery | undefined, taskMs: number): number {
    const handicap = taskMs + (query?.workerMs ?? 0)
    return performance.now() + Math.min(handicap, longestHandicapMs)
  }

  /** Waiting tasks of cancelled queries fail at once, with the reason. */
  dropCancelled(): void {
    for (const { query, giveUp } of this.#queue.take(({ query }) => query?.reason !== undefined)) {
      giveUp(query!.reason!)
    }
    this.#tellWaiting()
  }

  read<Result>(work: (reads: TaskReads) => Result): Result {
    return this.#reads.during(work)
  }

  findKeys(path: readonly string[], texts: readonly string[]) {
    return this.read((reads) => reads.findKeys(path, texts))
  }

  async close(): Promise<void> {
    await this.#pool?.close()
    await this.#pool?.destroy()
  }

  get #running(): number {
    return Atomics.load(this.#runningTasks, 0)
  }

  /** Resolves when a worker is free for the task, which then counts as running. */
  #turn(query: RunningQuery | undefined, taskMs: number): Promise<void> | undefined {
    if (this.#running < this.workers) {
      Atomics.add(this.#runningTasks, 0, 1)
      return undefined
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ query, start: resolve, giveUp: reject }, this.dueTime(query, taskMs))
      this.#tellWaiting()
    })
  }

  #tellWaiting(): void {
    Atomics.store(this.waiting, 0, this.#queue.size)
  }

  #startNext(): void {
    while (this.#running < this.workers) {
      const next = this.#queue.shift()
      if (!next) return
      this.#tellWaiting()
      Atomics.add(this.#runningTasks, 0, 1)
      next.start()
    }
  }
}

/** Throws the error that the task ended with. */
export function resultOf<T extends Task>(outcome: TaskOutcome): ResultOf<T> {
  if ('error' in outcome) throw AssayError.fromWire(outcome.error)
  return outcome.result as ResultOf<T>
}
