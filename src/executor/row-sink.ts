import type { BoundSortKey } from '../binder/bound.ts'
import type { EvaluationContext } from '../binder/evaluate.ts'
import { selectCompared, selectComparedWithin } from '../kernel/select.ts'
import { type Selection, type Vector, valueReader } from '../vector/vector.ts'
import type { Batch } from './batch.ts'
import { compile, type Evaluator } from './compile.ts'
import { checkLimit, maximumHeldRows } from './memory-limit.ts'
import type { SortThreshold } from './prune.ts'
import { RowBuffer } from './row-buffer.ts'
import type { RowRun } from './row-run.ts'
import type { Sink } from './scan.ts'
import type { RowsResult, ScanMetrics } from './task.ts'

/** Keeps the keys of the rows that come first in the plan's order. */
export class RowSink implements Sink {
  readonly #sort: readonly BoundSortKey[]
  readonly #evaluators: readonly Evaluator[]
  readonly #wanted: number
  readonly #given: SortThreshold | undefined
  readonly #buffer: RowBuffer
  #run: RowRun | undefined
  #takenOfRun = 0

  constructor(
    sort: readonly BoundSortKey[],
    wanted: number,
    threshold: SortThreshold | undefined,
    context: EvaluationContext,
  ) {
    this.#sort = sort
    this.#evaluators = sort.map((key) => compile(key.expression, context))
    this.#wanted = wanted
    this.#given = threshold
    this.#buffer = new RowBuffer(sort, wanted)
  }

  add(run: RowRun, from: number, batch: Batch, selection: Selection): void {
    if (this.#run !== run) {
      this.#run = run
      this.#takenOfRun = 0
    }
    const keys = this.#evaluators.map((evaluate) => evaluate(batch, selection))
    const readers = keys.map(valueReader)
    const entering = this.#entering(keys[0], batch.rowCount, selection)
    const { object, paginationTransaction, paginationIndex, transaction, index } = run.keys
    const count = entering ? entering.length : batch.rowCount
    for (let j = count - 1; j >= 0; j--) {
      const row = entering ? entering[j]! : j
      const at = run.firstKey + from + row
      this.#buffer.push(
        object[at]!,
        paginationTransaction[at]!,
        paginationIndex[at]!,
        transaction[at]!,
        index[at]!,
        readers.map((read) => read(row)),
      )
      this.#takenOfRun++
      if (this.#sort.length === 0 && this.#takenOfRun >= this.#wanted) return
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

  /** The rows that can still be among the wanted, by their first sort key. */
  #entering(first: Vector | undefined, rowCount: number, selection: Selection): Selection {
    const threshold = this.#buffer.threshold() ?? this.#given
    if (!threshold || !first) return selection
    if (first.kind !== 'number' && first.kind !== 'timestamp') return selection
    if (first.kind !== threshold.kind) return selection
    // Rows that tie may win by being newer. NaN, which is null, comes last and never enters.
    const operator = this.#sort[0]!.descending ? 'ge' : 'le'
    const out = new Int32Array(selection ? selection.length : rowCount)
    const count = selection
      ? selectComparedWithin(operator, first.values, threshold.value, selection, out)
      : selectCompared(operator, first.values, threshold.value, rowCount, out)
    return out.subarray(0, count)
  }
}
