import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { AssayError } from '../error.ts'
import { runTask } from '../executor/run-task.ts'
import type {
  GroupsResult,
  PrintResult,
  PrintTask,
  RowsResult,
  ScanTask,
  Task,
  TaskOutcome,
  TaskResult,
} from '../executor/task.ts'
import type { TaskReads } from '../storage/task-reads.ts'

/** Runs tasks on worker threads, or in this thread when there are none. */
export class QueryPool {
  readonly workers: number
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

  run(task: ScanTask): Promise<GroupsResult | RowsResult>
  run(task: PrintTask): Promise<PrintResult>
  async run(task: Task): Promise<TaskResult> {
    if (!this.#pool) return this.runHere(task)
    return unwrap((await this.#pool.run(task)) as TaskOutcome)
  }

  /** Runs a task that reads a few rows in this thread, which saves the way to another. */
  runHere(task: Task): TaskResult {
    return unwrap(this.#reads.during((reads) => runTask(task, reads)))
  }

  async close(): Promise<void> {
    await this.#pool?.close()
    await this.#pool?.destroy()
  }
}

function unwrap(outcome: TaskOutcome): TaskResult {
  if ('error' in outcome) throw AssayError.fromWire(outcome.error)
  return outcome.result
}
