/** Brings rows that tasks have found into one order: short keys here, long ones on workers. */
import { columnReader } from '../../executor/column/relation-column.ts'
import { carriedCount, RowBuffer, thresholdOf } from '../../executor/order/row-buffer.ts'
import { countRows, type SortedRows } from '../../executor/order/row-list.ts'
import type { SortThreshold } from '../../executor/scan/prune.ts'
import { bytesOf } from '../../executor/task/held-bytes.ts'
import type { RowsResult } from '../../executor/task/task.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { inlineBytes, isShortMerge } from '../cost/cost.ts'
import type { TaskRunner } from '../thread/query-pool.ts'

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

/** The first few rows of the plan's order, of those that come list by list. */
export class FirstRows {
  readonly #run: MergingRun
  readonly #wanted: number
  /** As long as all that it has is short. */
  readonly #buffer: RowBuffer
  /** Once it is not. */
  #ordered: SortedRows | undefined

  constructor(run: MergingRun, wanted: number) {
    this.#run = run
    this.#wanted = wanted
    this.#buffer = new RowBuffer(run.plan.sort, wanted, carriedCount(run.plan))
  }

  async add(rows: SortedRows): Promise<void> {
    if (!this.#ordered && this.#buffer.heldBytes + bytesOf(rows.keys) <= inlineBytes) {
      this.#buffer.add(rows)
      this.#buffer.cut()
      return
    }
    const lists = [this.#ordered ?? this.#buffer.finish(), rows]
    this.#ordered = await orderRows(lists, this.#run, this.#wanted)
  }

  /** See `RowBuffer.threshold`. */
  threshold(): SortThreshold | undefined {
    if (!this.#ordered) return this.#buffer.threshold()
    const { object, keys } = this.#ordered
    const [first] = keys
    if (object.length < this.#wanted) return undefined
    if (first?.kind !== 'number' && first?.kind !== 'timestamp') return undefined
    return thresholdOf(columnReader(first)(this.#wanted - 1))
  }

  finish(): SortedRows {
    return this.#ordered ?? this.#buffer.finish()
  }
}
