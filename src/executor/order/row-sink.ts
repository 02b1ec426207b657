import type { BoundExpression, BoundSortKey } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import { assert } from '../../error.ts'
import { newCodes } from '../../kernel/arena.ts'
import { rangeOf } from '../../kernel/compare.ts'
import { selectBetween, selectBetweenWithin, selectNotBeyond } from '../../kernel/select.ts'
import type { PlanProfile } from '../../planner/plan-profile.ts'
import { fromPlain } from '../../type/plain.ts'
import type { Value } from '../../type/value.ts'
import { granuleRows } from '../../vector/column.ts'
import { rowsOf, type Selection, type Vector, valueReader } from '../../vector/vector.ts'
import { columnReader } from '../column/relation-column.ts'
import type { Batch } from '../expression/batch.ts'
import { compile } from '../expression/compile.ts'
import type { Evaluator } from '../expression/evaluator.ts'
import { asSelection, type FilteredRows, selectedCount } from '../filter/filtered-rows.ts'
import { type BatchRange, newestFirst } from '../scan/granules.ts'
import { bestKey, type SortThreshold } from '../scan/prune.ts'
import type { RowRun } from '../scan/row-run.ts'
import type { Sink } from '../scan/sink.ts'
import type { RowsResult, ScanMetrics, ScanTask } from '../task/task.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import { checkLimit, maximumHeldRows } from '../thread/memory-limit.ts'
import { firstRows } from './first-rows.ts'
import { RowBuffer, thresholdOf } from './row-buffer.ts'
import { type AfterPosition, afterPosition, compareNullsLast } from './row-order.ts'

type NumbersVector = Extract<Vector, { readonly values: Float64Array }>

type RowSinkTask = Pick<
  ScanTask,
  'plan' | 'wanted' | 'threshold' | 'longAfter' | 'mayBePartial' | 'share'
>

/** Keeps the keys of the rows that come first in the plan's order, and its carried fields. */
export class RowSink implements Sink {
  readonly #sort: readonly BoundSortKey[]
  /** Sort keys, then carried fields. */
  readonly #evaluators: readonly Evaluator[]
  readonly #isUnpivoted: boolean
  readonly #wanted: number
  /** Rows beyond which some are left out; undefined: none may be. */
  readonly #partialRows: number | undefined
  readonly #given: SortThreshold | undefined
  readonly #isAfter: AfterPosition | undefined
  /** The first sort key from which rows may come after the position. */
  readonly #earliest: SortThreshold | undefined
  readonly #buffer: RowBuffer
  #run: RowRun | undefined
  #takenOfRun = 0

  constructor(
    {
      plan: { sort, stage, afterSorted, unpivots },
      wanted,
      threshold,
      longAfter,
      mayBePartial,
      share,
    }: RowSinkTask,
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
    this.#isUnpivoted = unpivots.length > 0
    this.#wanted = wanted
    this.#partialRows = mayBePartial ? maximumHeldRows / (share?.tasks ?? 1) : undefined
    this.#given = threshold
    const ends = longAfter?.map((column) => columnReader(column)(0))
    this.#isAfter = afterSorted && afterPosition(sort, afterSorted, ends)
    const [first] = afterSorted?.values ?? []
    this.#earliest = first === undefined ? undefined : thresholdOf(fromPlain(first))
    this.#buffer = new RowBuffer(sort, wanted, carried.length)
  }

  takes(): boolean {
    return false
  }

  add(run: RowRun, batch: Batch, kept: FilteredRows): number {
    const selection = asSelection(kept, batch.rowCount)
    const count = selectedCount(selection, batch.rowCount)
    if (count > 0) this.#take(run, batch, selection)
    return count
  }

  #take(run: RowRun, batch: Batch, selection: Selection): void {
    if (this.#run !== run) {
      this.#run = run
      this.#takenOfRun = 0
    }
    const { keys, rowCount } = batch
    assert(keys, 'rows of a scan have keys')
    const [evaluateFirst] = this.#evaluators
    const first = this.#sort.length > 0 ? evaluateFirst!(batch, selection) : undefined
    // Only in that case may the first key alone decide between rows of the batch that tie in it.
    const oldLose = this.#sort.length === 1 && this.#buffer.isAfterLast(keys, rowCount - 1)
    let rows = this.#following(first, rowCount, selection)
    rows = this.#entering(first, rowCount, rows, oldLose)
    if (!this.#isAfter) rows = this.#firstOfBatch(first, rowCount, rows)
    const count = rows ? rows.length : rowCount
    if (count === 0) return
    // Batches that an unpivot makes of one share its fields, which keep what is asked for first.
    const asked = this.#isUnpivoted ? selection : rows
    const vectors = this.#evaluators.map((evaluate, i) => {
      return i === 0 && first ? first : evaluate(batch, asked)
    })
    const readers = vectors.map(valueReader)
    for (let j = count - 1; j >= 0; j--) {
      checkAtTimes()
      const row = rows ? rows[j]! : j
      if (this.#isAfter && !this.#isAfter(readers, keys, row)) continue
      if (first && this.#isBeyondLast(readers[0]!(row), oldLose)) continue
      this.#buffer.push(keys, row, readers)
      this.#takenOfRun++
      if (this.isDone(run)) return
    }
    this.#buffer.trim()
    const held = this.#buffer.count
    if (this.#partialRows === undefined) {
      checkLimit(held, maximumHeldRows, 'rows in order', 'add a limit or a filter')
    } else if (held > this.#partialRows) this.#buffer.halve()
  }

  /** Leaves out the half of the rows that come last; false when there is but one. */
  halve(): boolean {
    if (this.#buffer.count < 2) return false
    this.#buffer.halve()
    return true
  }

  /** Batches that hold the best values come first, so that they rule out others. */
  *batches(run: RowRun, skipped: PlanProfile): Generator<BatchRange> {
    const [key] = this.#sort
    const { zones } = run
    if (!zones || this.#isUnpivoted || key?.expression.kind !== 'field') {
      yield* newestFirst(run)
      return
    }
    const sign = key.descending ? -1 : 1
    const ranked = newestFirst(run).map((range) => {
      zones.granule = Math.floor((run.firstRow + range.from) / granuleRows)
      const best = bestKey(key, zones)
      return { range, best, rank: best ? rankOf(best, sign) : Number.NEGATIVE_INFINITY }
    })
    for (const { range, best, rank } of ranked.sort((a, b) => a.rank - b.rank || 0)) {
      const { threshold } = this.#threshold(false)
      const isBehind =
        threshold &&
        (best?.kind === threshold.kind || best?.kind === 'null') &&
        rankOf(threshold, sign) < rank
      if (!isBehind) yield range
      else skipped.skip({ by: 'top rows', segments: 0, granules: 1, rows: range.to - range.from })
    }
  }

  /** Without sort keys a run gives its rows in the order that is wanted. */
  isDone(run: RowRun): boolean {
    if (this.#wanted === 0) return true
    return this.#sort.length === 0 && this.#run === run && this.#takenOfRun >= this.#wanted
  }

  get heldBytes(): number {
    return this.#buffer.heldBytes
  }

  get resultCount(): number {
    return this.#buffer.count
  }

  finish(metrics: ScanMetrics): RowsResult {
    const rows = this.#buffer.finish()
    return { kind: 'rows', rows, isPartial: this.#buffer.isPartial, metrics }
  }

  /** The rows that may come after the position, by their first sort key. Null comes last. */
  #following(first: Vector | undefined, rowCount: number, selection: Selection): Selection {
    const earliest = this.#earliest
    if (!earliest || first?.kind !== earliest.kind) return selection
    const { values } = first as NumbersVector
    const side = this.#sort[0]!.descending ? 'above' : 'below'
    const rows = rowsOf(selection, rowCount)
    const out = new Int32Array(rows.length)
    return out.subarray(0, selectNotBeyond(side, values, earliest.value, rows, out))
  }

  /** The rows that can still be among the wanted, by their first sort key. */
  #entering(
    first: Vector | undefined,
    rowCount: number,
    selection: Selection,
    oldLose: boolean,
  ): Selection {
    if (!first) return selection
    const { threshold, isStrict } = this.#threshold(oldLose)
    if (!threshold || first.kind !== threshold.kind) return selection
    const { values } = first as NumbersVector
    // Rows that tie may win by being newer. NaN, which is null, comes last and never enters.
    const { descending } = this.#sort[0]!
    const operator = descending ? (isStrict ? 'gt' : 'ge') : isStrict ? 'lt' : 'le'
    const range = rangeOf(operator, threshold.value)
    const out = newCodes(selection ? selection.length : rowCount)
    const count = selection
      ? selectBetweenWithin(values, range, selection, out)
      : selectBetween(values, range, rowCount, out)
    return out.subarray(0, count)
  }

  /** What rows have to reach by their first sort key, and whether they have to pass it. */
  #threshold(oldLose: boolean): { threshold: SortThreshold | undefined; isStrict: boolean } {
    const own = this.#buffer.threshold()
    const given = this.#given
    const { descending } = this.#sort[0]!
    if (!own || (own.kind === given?.kind && isBefore(given.value, own.value, descending))) {
      return { threshold: given, isStrict: false }
    }
    return { threshold: own, isStrict: oldLose }
  }

  /** The rows that can be among the wanted ones of the batch. */
  #firstOfBatch(first: Vector | undefined, rowCount: number, selection: Selection): Selection {
    if (first?.kind !== 'number' && first?.kind !== 'timestamp') return selection
    const order = {
      wanted: this.#wanted,
      descending: this.#sort[0]!.descending,
      // Rows of a batch are of one object, the oldest first.
      laterFirst: this.#sort.length === 1,
    }
    return firstRows(first.values, selection, rowCount, order)
  }

  #isBeyondLast(value: Value, oldLose: boolean): boolean {
    const last = this.#buffer.lastKey
    if (last === undefined) return false
    const order = compareNullsLast(value, last, this.#sort[0]!.descending)
    return oldLose ? order >= 0 : order > 0
  }
}

function isBefore(a: number, b: number, descending: boolean): boolean {
  return descending ? a > b : a < b
}

/** Of first sort keys in their order; null comes last. */
function rankOf(key: SortThreshold | { readonly kind: 'null' }, sign: number): number {
  return key.kind === 'null' ? Number.POSITIVE_INFINITY : key.value * sign
}
