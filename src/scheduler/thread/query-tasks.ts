import { AssayError } from '../../error.ts'
import { lentOf } from '../../executor/run-task.ts'
import { bytesOf } from '../../executor/task/held-bytes.ts'
import type { Task, TaskResult } from '../../executor/task/task.ts'
import type { TaskReads } from '../../storage/read/task-reads.ts'
import { isDamage, type SegmentDamage } from '../../storage/segment/segment-store.ts'
import type { Admission } from '../admission/admission.ts'
import type { RunningQuery } from '../admission/running-query.ts'
import type { ColdView } from '../cold/cold-view.ts'
import { bodiesOf, coldKeysOf, rowsToLend } from '../cold/lent-rows.ts'
import { ReadParts } from '../cold/read-parts.ts'
import { taskMs } from '../cost/cost.ts'
import type { Dictionaries } from './dictionaries.ts'
import { type QueryPool, type ResultOf, resultOf, type TaskRunner } from './query-pool.ts'

export interface QueryTasksOptions {
  /** Is told of segments that are damaged, where a task can do without them. */
  readonly noteDamage?: ((damage: SegmentDamage) => Promise<unknown>) | undefined
  readonly cold?: ColdView | undefined
}

/**
 * Runs the tasks of one query in the pool that all share. Before its first task goes to a worker the
 * query is admitted; what tasks give back is counted against its memory.
 */
export class QueryTasks implements TaskRunner {
  readonly #pool: QueryPool
  readonly #admission: Admission
  readonly #query: RunningQuery
  readonly #noteDamage: QueryTasksOptions['noteDamage']
  readonly #cold: ColdView | undefined
  readonly #read: ReadParts

  constructor(
    pool: QueryPool,
    admission: Admission,
    query: RunningQuery,
    { noteDamage, cold }: QueryTasksOptions = {},
  ) {
    this.#pool = pool
    this.#admission = admission
    this.#query = query
    this.#noteDamage = noteDamage
    this.#cold = cold
    this.#read = new ReadParts(query.memory, query.ending)
  }

  get workers(): number {
    return this.#pool.workers
  }

  get waiting(): Int32Array {
    return this.#pool.waiting
  }

  /** Aborted once the query is cancelled, or has ended. */
  get ending(): AbortSignal {
    return this.#query.ending
  }

  /** Bytes that the query may hold. */
  get budgetBytes(): number {
    return this.#query.memory.limit
  }

  /** Bytes of results that the query is taken to hold. */
  get heldBytes(): number {
    return this.#query.memory.bytes
  }

  /** Tells that results which tasks gave so far are not held any more. */
  release(): void {
    this.#query.memory.release()
  }

  /** Counts what the query holds besides, until that is let go of. Throws LIMIT_MEMORY. */
  hold(bytes: number): void {
    this.#query.memory.lend(bytes)
  }

  letGo(bytes: number): void {
    this.#query.memory.takeBack(bytes)
  }

  get dictionaries(): Dictionaries {
    return this.#pool.dictionaries
  }

  /** Resolves when the query may be at work, on the cluster, too. Throws as `run` does. */
  async admitted(): Promise<void> {
    await this.#admission.enter(this.#query, this.#pool.dueTime(this.#query, 0))
  }

  /** Throws LIMIT_OVERLOADED, LIMIT_MEMORY, and why the query was cancelled while the task waited. */
  async run<T extends Task>(task: T, short = false): Promise<ResultOf<T>> {
    try {
      return await this.#runOnce(await this.#withLent(task), short)
    } catch (thrown) {
      const bodies = mayRunAgain(task) ? await this.#bodiesFor(thrown) : undefined
      if (bodies) return this.run(lentTo(task, bodies), short)
      if (!isDamage(thrown)) throw thrown
      const without = withoutSegment(task, thrown.damagedSegment)
      if (!without) throw thrown
      await this.#noteDamage?.(thrown)
      return this.run(without, short)
    }
  }

  /** The task with rows that it reads and the cluster has. */
  async #withLent<T extends Task>(task: T): Promise<T> {
    if (!this.#cold) return task
    const keys = coldKeysOf(task, this.#cold)
    if (keys.length === 0) return task
    const { parts, missing } = this.#read.withRows(keys)
    if (missing.length === 0) return lentTo(task, parts)
    await this.admitted()
    const lent = await rowsToLend(missing, this.#cold, this.ending, this.budgetBytes)
    return lentTo(task, [...parts, ...lent])
  }

  /** What a task has asked for that the cluster has; undefined where it failed for another reason. */
  async #bodiesFor(thrown: unknown): Promise<readonly SharedArrayBuffer[] | undefined> {
    const evicted = thrown instanceof AssayError ? thrown.evicted : undefined
    if (!evicted || !this.#cold) return undefined
    return bodiesOf(evicted, this.#cold, this.ending, this.budgetBytes)
  }

  async #runOnce<T extends Task>(task: T, short: boolean): Promise<ResultOf<T>> {
    const query = this.#query
    if (!short && this.workers > 0) {
      await this.#admission.enter(query, this.#pool.dueTime(query, taskMs(task)))
    }
    const { outcome, workerMs } = await this.#runAdmitted(task, short)
    query.workerMs += workerMs
    const result = resultOf<T>(outcome)
    if ('metrics' in result) {
      query.rowsTaken += result.metrics.rowsTaken
      query.rowsRead += result.metrics.rowsRead
    }
    query.tellProgress()
    // What was merged is let go of.
    if (result.kind === 'finish' || result.kind === 'order') this.release()
    query.memory.take(heldBytes(task, result))
    return result
  }

  /** Tasks that are begun ahead take a place again; once they are done, it is not kept for a reader. */
  async #runAdmitted(task: Task, short: boolean) {
    const query = this.#query
    // What is kept of what was read is counted as long as it is.
    const lentBytes = lentOf(task)
      .filter((part) => !this.#read.has(part))
      .reduce((sum, { byteLength }) => sum + byteLength, 0)
    if (lentBytes > 0) query.memory.lend(lentBytes)
    query.beginTask()
    try {
      return await this.#pool.runFor(query, task, short)
    } finally {
      if (lentBytes > 0) query.memory.takeBack(lentBytes)
      query.endTask()
      if (query.awaitsReader && query.tasksAtWork === 0) {
        this.#admission.leave(query)
        query.state = 'sending'
      }
    }
  }

  /** See `ReadParts`. */
  noteRead(part: SharedArrayBuffer): void {
    this.#read.add(part)
  }

  /** Tells how much there is to read, for those who watch. */
  willRead(rows: number): void {
    this.#query.rowsToRead += rows
  }

  read<Result>(work: (reads: TaskReads) => Result): Result {
    return this.#pool.read(work)
  }

  findKeys(path: readonly string[], texts: readonly string[]) {
    return this.#pool.findKeys(path, texts)
  }
}

/** What a task has taken of a list that it shares is gone. */
function mayRunAgain(task: Task): boolean {
  return !(task.kind === 'scan' && task.share)
}

function lentTo<T extends Task>(task: T, more: readonly SharedArrayBuffer[]): T {
  const lent = 'lent' in task ? (task.lent ?? []) : []
  return { ...task, lent: [...lent, ...more] }
}

/**
 * The task without a segment that is damaged; undefined where the rows of that are what it is about. Rows that are known
 * by their keys are in the row store, too.
 */
function withoutSegment<T extends Task>(task: T, damaged: number): T | undefined {
  if (!('segments' in task) || task.kind === 'unify') return undefined
  if (!task.segments.includes(damaged)) return undefined
  return { ...task, segments: task.segments.filter((segment) => segment !== damaged) }
}

/** Bytes of a result that stay with the query until its end; 0 for what soon leaves. */
function heldBytes(task: Task, result: TaskResult): number {
  const isHeld =
    result.kind === 'groups' ||
    result.kind === 'take groups' ||
    result.kind === 'finish' ||
    result.kind === 'order' ||
    (result.kind === 'rows' && task.kind === 'scan' && task.plan.sort.length > 0)
  return isHeld ? bytesOf(result) : 0
}
