import type { BoundExpression, BoundSortKey } from '../binder/bound.ts'
import type { EvaluationContext } from '../binder/evaluate.ts'
import { assert } from '../error.ts'
import { rangeOf } from '../kernel/compare.ts'
import { newCodes } from '../kernel/memory.ts'
import { selectBetween, selectBetweenWithin, selectNotBeyond } from '../kernel/select.ts'
import type { PhysicalPlan } from '../planner/physical-plan.ts'
import { fromPlain } from '../type/plain.ts'
import { rowsOf, type Selection, type Vector, valueReader } from '../vector/vector.ts'
import type { Batch } from './batch.ts'
import { compile, type Evaluator } from './compile.ts'
import { checkLimit, maximumHeldRows } from './memory-limit.ts'
import type { SortThreshold } from './prune.ts'
import { RowBuffer, thresholdOf } from './row-buffer.ts'
import { type AfterPosition, afterPosition } from './row-order.ts'
import type { RowRun } from './row-run.ts'
import type { Sink } from './scan.ts'
import type { RowsResult, ScanMetrics } from './task.ts'

/** Keeps the keys of the rows that come first in the plan's order, and its carried fields. */
export class RowSink implements Sink {
  readonly #sort: readonly BoundSortKey[]
  /** Sort keys, then carried fields. */
  readonly #evaluators: readonly Evaluator[]
  readonly #wanted: number
  readonly #given: SortThreshold | undefined
  readonly #isAfter: AfterPosition | undefined
  /** The first sort key from which rows may come after the position. */
  readonly #earliest: SortThreshold | undefined
  readonly #buffer: RowBuffer
  #run: RowRun | undefined
  #takenOfRun = 0

  constructor(
    { sort, stage, afterSorted }: PhysicalPlan,
    wanted: number,
    threshold: SortThreshold | undefined,
    context: EvaluationContext,
  ) {
    assert(stage.kind === 'rows', 'only rows are put in order')
    const carried = stage.carried.map(
      (name): BoundExpression => ({ kind: 'field', path: [name], type: 'json' }),
    )
    this.#sort = sort
    this.#evaluators = [...sort.map((key) => key.expression), ...carried].map((expression) =>
      compile(expression, context),
    )
    this.#wanted = wanted
    this.#given = threshold
    this.#isAfter = afterSorted && afterPosition(sort, afterSorted)
    const [first] = afterSorted?.values ?? []
    this.#earliest = first === undefined ? undefined : thresholdOf(fromPlain(first))
    this.#buffer = new RowBuffer(sort, wanted, carried.length)
  }

  add(run: RowRun, batch: Batch, selection: Selection): void {
    if (this.#run !== run) {
      this.#run = run
      this.#takenOfRun = 0
    }
    const { keys } = batch
    assert(keys, 'rows of a scan have keys')
    const vectors = this.#evaluators.map((evaluate) => evaluate(batch, selection))
    const readers = vectors.map(valueReader)
    const following = this.#following(vectors[0], batch.rowCount, selection)
    const entering = this.#entering(vectors[0], batch.rowCount, following)
    const count = entering ? entering.length : batch.rowCount
    for (let j = count - 1; j >= 0; j--) {
      const row = entering ? entering[j]! : j
      if (this.#isAfter && !this.#isAfter(readers, keys, row)) continue
      this.#buffer.push(
        keys.object[row]!,
        keys.paginationTransaction[row]!,
        keys.paginationIndex[row]!,
        keys.transaction[row]!,
        keys.index[row]!,
        readers.map((read) => read(row)),
      )
      this.#takenOfRun++
      if (this.isDone(run)) return
    }
    this.#buffer.trim()
    checkLimit(this.#buffer.count, maximumHeldRows, 'rows in order', 'add a limit or a filter')
  }

  /** Without sort keys a run gives its rows in the order that is wanted. */
  isDone(run: RowRun): boolean {
    if (this.#wanted === 0) return true
    return this.#sort.length === 0 && this.#run === run && this.#takenOfRun >= this.#wanted
  }

  finish(metrics: ScanMetrics): RowsResult {
    return { kind: 'rows', rows: this.#buffer.finish(), metrics }
  }

  /** The rows that may come after the position, by their first sort key. Null comes last. */
  #following(first: Vector | undefined, rowCount: number, selection: Selection): Selection {
    const earliest = this.#earliest
    if (!earliest || first?.kind !== earliest.kind) return selection
    const { values } = first as Extract<Vector, { values: Float64Array }>
    const side = this.#sort[0]!.descending ? 'above' : 'below'
    const rows = rowsOf(selection, rowCount)
    const out = new Int32Array(rows.length)
    return out.subarray(0, selectNotBeyond(side, values, earliest.value, rows, out))
  }

  /** The rows that can still be among the wanted, by their first sort key. */
  #entering(first: Vector | undefined, rowCount: number, selection: Selection): Selection {
    const threshold = this.#buffer.threshold() ?? this.#given
    if (!threshold || !first) return selection
    if (first.kind !== 'number' && first.kind !== 'timestamp') return selection
    if (first.kind !== threshold.kind) return selection
    // Rows that tie may win by being newer. NaN, which is null, comes last and never enters.
    const range = rangeOf(this.#sort[0]!.descending ? 'ge' : 'le', threshold.value)
    const out = newCodes(selection ? selection.length : rowCount)
    const count = selection
      ? selectBetweenWithin(first.values, range, selection, out)
      : selectBetween(first.values, range, rowCount, out)
    return out.subarray(0, count)
  }
}
