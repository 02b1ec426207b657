import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { AssayError } from '../error.ts'
import { runTask } from '../executor/run-task.ts'
import type {
  AnswerResult,
  AnswerTask,
  FinishResult,
  FinishTask,
  GroupsResult,
  OrderResult,
  PrintResult,
  PrintTask,
  RowsResult,
  ScanTask,
  Task,
  TaskOutcome,
  UnifyResult,
  UnifyTask,
} from '../executor/task.ts'
import type { TaskReads } from '../storage/task-reads.ts'
import { Dictionaries } from './dictionaries.ts'

type ResultOf<T extends Task> = T extends ScanTask
  ? GroupsResult | RowsResult
  : T extends PrintTask
    ? PrintResult
    : T extends FinishTask
      ? FinishResult
      : T extends UnifyTask
        ? UnifyResult
        : T extends AnswerTask
          ? AnswerResult
          : OrderResult

/** Runs tasks on worker threads, or in this thread when there are none. */
export class QueryPool {
  readonly workers: number
  /** Those that its tasks share. */
  readonly dictionaries = new Dictionaries(this)
  readonly #pool: Piscina | undefined
  readonly #reads: TaskReads

  /**
   * @param workers how many threads; 0 runs tasks in this one
   * @param reads what tasks in this thread read from
   */
  constructor(directory: string, workers: number, reads: TaskReads) {
    this.workers = workers
    this.#reads = reads
    this.#pool =
      workers === 0
        ? undefined
        : new Piscina({
            filename: fileURLToPath(
              new URL(`../../workers/query${import.meta.url.slice(-3)}`, import.meta.url),
            ),
            workerData: { directory },
            minThreads: workers,
            maxThreads: workers,
            idleTimeout: Number.POSITIVE_INFINITY,
          })
  }

  /** The pool for other work of short duration, such as parsing bodies; undefined without threads. */
  get threads(): Piscina | undefined {
    return this.#pool
  }

  /**
   * Runs a task on a worker, or, when it is known to be `short`, in this thread, which saves the way
   * to another.
   */
  async run<T extends Task>(task: T, short = false): Promise<ResultOf<T>> {
    const outcome =
      short || !this.#pool
        ? this.#reads.during((reads) => runTask(task, reads))
        : ((await this.#pool.run(task)) as TaskOutcome)
    if ('error' in outcome) throw AssayError.fromWire(outcome.error)
    return outcome.result as ResultOf<T>
  }

  /** Reads something short in this thread. */
  read<Result>(work: (reads: TaskReads) => Result): Result {
    return this.#reads.during(work)
  }

  /** See `storage/key-index.ts`. */
  findKeys(path: readonly string[], texts: readonly string[]) {
    return this.read((reads) => reads.findKeys(path, texts))
  }

  async close(): Promise<void> {
    await this.#pool?.close()
    await this.#pool?.destroy()
  }
}
