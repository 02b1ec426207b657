/** Brings rows that tasks have found into one order: short keys here, long ones on workers. */
import { columnReader } from '../../executor/column/relation-column.ts'
import { countAhead, type OrderBound } from '../../executor/order/order-bound.ts'
import { thresholdOf } from '../../executor/order/row-buffer.ts'
import {
  countRows,
  GrowingRows,
  type SortedRows,
  sliceSortedRows,
} from '../../executor/order/row-list.ts'
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
export type PartOfRows = Pick<RowsResult, 'rows' | 'isPartial'>

/** The first rows of all parts in the plan's order, as far as they are known to be the first. */
export async function orderParts(
  parts: readonly PartOfRows[],
  { plan, pool, cancelled }: MergingRun,
  wanted: number,
): Promise<PartOfRows> {
  if (parts.length === 1) return parts[0]!
  const lists = parts.map(({ rows }) => rows)
  const partial = parts.flatMap(({ isPartial }, i) => (isPartial ? [i] : []))
  const task = { kind: 'order', plan, lists, partial, wanted, cancelled } as const
  const count = countRows(lists)
  const { rows, isPartial } = await pool.run(task, isShortMerge(count))
  return { rows, isPartial: isPartial || wanted < count }
}

/** The first rows of all lists in the plan's order. */
export async function orderRows(
  lists: readonly SortedRows[],
  run: MergingRun,
  wanted: number,
): Promise<SortedRows> {
  const parts = lists.map((rows) => ({ rows, isPartial: false }))
  return (await orderParts(parts, run, wanted)).rows
}

/** Emitted at once at least, of sorted rows, while others are left to be read: few rows are printed as fast as some more. */
const fewestSorted = 1024

/** Rows that were found, list by list, of which those leave that come before all that are not found yet. */
export class FoundRows {
  readonly #run: FoundRowsRun
  readonly #mayBePartial: boolean
  #wanted: number
  #parts: PartOfRows[] = []

  /** @param mayBePartial whether those that come last are left out where all take too much memory */
  constructor(run: FoundRowsRun, wanted: number, mayBePartial: boolean) {
    this.#run = run
    this.#wanted = wanted
    this.#mayBePartial = mayBePartial
  }

  async add(parts: readonly PartOfRows[]): Promise<void> {
    const { plan, pool } = this.#run
    this.#parts.push(...parts)
    const lists = this.#parts.map(({ rows }) => rows)
    const count = countRows(lists)
    if (this.#mayBePartial) {
      const isMuch = count > maximumHeldRows || pool.heldBytes > pool.budgetBytes / 2
      // Tasks are more than threads while other queries wait, and each of them gives a thread's share.
      if (!isMuch || lists.length === 1) return
      this.#parts = [await orderParts(this.#parts, this.#run, Math.ceil(count / 2))]
      return
    }
    checkLimit(count, maximumHeldRows, 'rows in order', 'add a limit or a filter')
    if (plan.sort.length === 0 || count <= this.#wanted || !isShortMerge(this.#wanted)) return
    const rows = await orderRows(lists, this.#run, this.#wanted)
    this.#parts = [{ rows, isPartial: false }]
  }

  /** The first sort key of the last row that is wanted: of one list, those of others may be better. */
  threshold(): SortThreshold | undefined {
    const { plan } = this.#run
    if (plan.sort.length === 0) return undefined
    for (const { rows } of this.#parts) {
      const [first] = rows.keys
      if (rows.object.length < this.#wanted) continue
      if (first?.kind !== 'number' && first?.kind !== 'timestamp') continue
      return thresholdOf(columnReader(first)(this.#wanted - 1))
    }
    return undefined
  }

  /** Whether all rows come before those that are not found. */
  areAhead(bound: OrderBound | undefined): boolean {
    return this.#countAhead(bound) === this.count
  }

  #countAhead(bound: OrderBound | undefined): number {
    const { sort } = this.#run.plan
    return this.#parts.reduce((sum, { rows }) => sum + countAhead(rows, sort, bound), 0)
  }

  get count(): number {
    return countRows(this.#parts.map(({ rows }) => rows))
  }

  /**
   * Takes out the rows that come before all that are not found, in order; none while they are not worth it.
   *
   * @param bound undefined: nothing is left to be found
   */
  async take(bound: OrderBound | undefined): Promise<PartOfRows> {
    const { sort } = this.#run.plan
    const isKept = bound && sort.length > 0 && this.#countAhead(bound) < this.#fewest
    if (isKept || (bound && this.#parts.some(({ isPartial }) => isPartial))) return noPart
    const ahead: PartOfRows[] = []
    const others: PartOfRows[] = []
    for (const { rows, isPartial } of this.#parts) {
      const [count, total] = [countAhead(rows, sort, bound), rows.object.length]
      if (count > 0) ahead.push({ rows: sliceSortedRows(rows, 0, count), isPartial })
      if (count < total) others.push({ rows: sliceSortedRows(rows, count, total), isPartial })
    }
    this.#parts = others
    if (ahead.length === 0) return noPart
    const taken = await orderParts(ahead, this.#run, this.#wanted)
    this.#wanted -= taken.rows.object.length
    return taken
  }

  get #fewest(): number {
    return Math.min(this.#wanted, fewestSorted)
  }
}

/** What it takes of a run. */
type FoundRowsRun = MergingRun & {
  readonly pool: Pick<QueryTasks, 'run' | 'heldBytes' | 'budgetBytes'>
}

const noPart: PartOfRows = { rows: { ...new GrowingRows().pick([]), keys: [] }, isPartial: false }
