/** Brings rows that tasks have found into one order: short keys here, long ones on workers. */
import { columnReader } from '../../executor/column/relation-column.ts'
import { countRows, GrowingRows, sliceSortedRows } from '../../executor/column/row-list.ts'
import { countAhead, type OrderBound } from '../../executor/order/order-bound.ts'
import { thresholdOf } from '../../executor/order/row-buffer.ts'
import type { SortThreshold } from '../../executor/scan/prune.ts'
import type { RowsResult } from '../../executor/task/task.ts'
import { checkLimit, maximumHeldRows } from '../../executor/thread/memory-limit.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { isShortMerge } from '../cost/cost.ts'
import type { TaskRunner } from '../thread/query-pool.ts'
import type { QueryTasks } from '../thread/query-tasks.ts'

/** What merging takes of a run. */
interface MergingRun {
  readonly plan: PhysicalPlan
  readonly pool: Pick<TaskRunner, 'run'>
  readonly cancelled: Int32Array
}

/** Rows in order; if `isPartial`, others were left out that come after them. */
export type PartialRows = Pick<RowsResult, 'rows' | 'isPartial'>

/** The first rows of all parts in the plan's order, as far as they are known to be the first. */
export async function orderParts(
  parts: readonly PartialRows[],
  { plan, pool, cancelled }: MergingRun,
  wanted: number,
): Promise<PartialRows> {
  if (parts.length === 1) return parts[0]!
  const lists = parts.map(({ rows }) => rows)
  const partial = parts.flatMap(({ isPartial }, i) => (isPartial ? [i] : []))
  const task = { kind: 'order', plan, lists, partial, wanted, cancelled } as const
  const count = countRows(lists)
  const { rows, isPartial } = await pool.run(task, isShortMerge(count))
  return { rows, isPartial: isPartial || wanted < count }
}

/** Rows that were found, list by list, of which those leave that come before all that is not read yet. */
export class FoundRows {
  readonly #run: FoundRowsRun
  readonly #wanted: number
  readonly #mayBePartial: boolean
  #parts: PartialRows[] = []

  /** @param mayBePartial whether those that come last are left out where all take too much memory */
  constructor(run: FoundRowsRun, wanted: number, mayBePartial: boolean) {
    this.#run = run
    this.#wanted = wanted
    this.#mayBePartial = mayBePartial
  }

  get count(): number {
    return countRows(this.#parts.map(({ rows }) => rows))
  }

  async add(part: PartialRows): Promise<void> {
    this.#parts.push(part)
    const { pool, plan } = this.#run
    const { count } = this
    if (this.#mayBePartial) {
      const isMuch = count > maximumHeldRows || pool.heldBytes > pool.budgetBytes / 2
      // Tasks are more than threads while other queries wait, and each of them gives a thread's share.
      if (isMuch) await this.#merge(Math.ceil(count / 2))
      return
    }
    checkLimit(count, maximumHeldRows, 'rows in order', 'add a limit or a filter')
    const isShort = plan.sort.length > 0 && isShortMerge(this.#wanted)
    if (isShort && count > this.#wanted) await this.#merge(this.#wanted)
  }

  /** The first sort key of the last row that is wanted: those behind it are not. */
  threshold(): SortThreshold | undefined {
    const { rows } = this.#parts[0] ?? noPart
    const [first] = rows.keys
    if (this.#run.plan.sort.length === 0 || rows.object.length < this.#wanted) return undefined
    if (first?.kind !== 'number' && first?.kind !== 'timestamp') return undefined
    return thresholdOf(columnReader(first)(this.#wanted - 1))
  }

  /** Whether all rows come before all that is not read. */
  areAhead(bound: OrderBound | undefined): boolean {
    return sumOf(this.#countsAhead(bound)) === this.count
  }

  /**
   * Takes out the rows that come before all that is not read, in order; of sorted ones, all that are wanted or none.
   *
   * @param bound undefined: everything was read
   */
  async take(bound: OrderBound | undefined): Promise<PartialRows> {
    const isSorted = this.#run.plan.sort.length > 0
    const counts = this.#countsAhead(bound)
    const count = sumOf(counts)
    if (count === 0 || (bound && isSorted && count < this.#wanted)) return noPart
    const parts = this.#parts
    const ahead = parts.flatMap((part, i) => rowsOfPart(part, 0, counts[i]!))
    this.#parts = parts.flatMap((part, i) => rowsOfPart(part, counts[i]!, part.rows.object.length))
    return orderParts(ahead, this.#run, this.#wanted)
  }

  #countsAhead(bound: OrderBound | undefined): number[] {
    return this.#parts.map(({ rows }) => countAhead(rows, this.#run.plan.sort, bound))
  }

  async #merge(wanted: number): Promise<void> {
    const { rows, isPartial } = await orderParts(this.#parts, this.#run, wanted)
    this.#parts = [{ rows, isPartial: this.#mayBePartial && isPartial }]
  }
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

function rowsOfPart({ rows, isPartial }: PartialRows, from: number, to: number): PartialRows[] {
  return from < to ? [{ rows: sliceSortedRows(rows, from, to), isPartial }] : []
}

/** What it takes of a run. */
interface FoundRowsRun extends MergingRun {
  readonly pool: Pick<QueryTasks, 'run' | 'heldBytes' | 'budgetBytes'>
}

const noPart: PartialRows = { rows: { ...new GrowingRows().pick([]), keys: [] }, isPartial: false }
