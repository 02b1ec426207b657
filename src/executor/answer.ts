/** A whole plan in one task, for one that reads little: it is scanned, finished and printed. */
import type { ByteWriter } from '../json/byte-writer.ts'
import type { PhysicalPlan } from '../planner/physical-plan.ts'
import type { OperatorMetrics } from '../planner/plan-profile.ts'
import { type SortedRows, sliceSortedRows } from './column/row-list.ts'
import { finishScanned, runFinish } from './finish.ts'
import { GroupSink } from './group/group-sink.ts'
import { countAhead } from './order/order-bound.ts'
import { RowSink } from './order/row-sink.ts'
import { inferForm } from './print/infer-form.ts'
import { printRows } from './print/print.ts'
import type { PrintedRows, RowForm } from './print/row-form.ts'
import type { Relation } from './relation/relation.ts'
import { sliceRelation } from './relation/relation-parts.ts'
import { relationOfRows } from './relation/relation-rows.ts'
import { segmentsOf } from './relation/row-columns.ts'
import { placeOfFinished, placeOfRow } from './relation/row-place.ts'
import type { TaskStorage } from './scan/row-run.ts'
import { resultOf, type Scanned, scan } from './scan.ts'
import type {
  AnswerResult,
  AnswerTask,
  FinishResult,
  RowPlace,
  RowsResult,
  ScanMetrics,
} from './task/task.ts'

/** @param out see `printRows` */
export function runAnswer(task: AnswerTask, storage: TaskStorage, out?: ByteWriter): AnswerResult {
  const { plan } = task.scan
  const scanned = scan(task.scan, storage)
  if (scanned.sink instanceof RowSink && plan.stages.length === 0) {
    const found = resultOf(scanned) as RowsResult
    const { metrics } = found
    if (!areFirst(found.rows, task))
      return { ...noAnswer, form: task.form, metrics, found: found.rows }
    const rows = withinLimit(found.rows, plan)
    const printed = print(relationOfRows(plan, rows), task, storage, out)
    const { rowCount } = printed.rows
    const total = rows.object.length
    const rest = { ...found, rows: sliceSortedRows(rows, rowCount, total) }
    return {
      ...noAnswer,
      ...printed.rows,
      form: printed.form,
      metrics: withOperators(metrics, metrics.operators, printed.operator),
      place: placeOfLast(rowCount, (row) => placeOfRow(plan, rows, row)),
      rest: rowCount < total ? rest : undefined,
    }
  }
  const finished = finish(scanned, task, storage)
  const { relation, lastSorted, operators } = finished
  const printed = print(relation, task, storage, out)
  const { rowCount } = printed.rows
  const rest = sliceRelation(relation, rowCount, relation.rowCount)
  return {
    ...noAnswer,
    ...printed.rows,
    form: printed.form,
    metrics: withOperators(scanned.metrics, operators, printed.operator),
    place: placeOfLast(rowCount, (row) => placeOfFinished(plan, finished, row)),
    madeColumns: plan.output.star ? relation.fields.map(({ name }) => name) : [],
    rest: rest.rowCount > 0 ? { kind: 'finish', relation: rest, lastSorted } : undefined,
  }
}

/** Whether as many rows as are wanted come before all that is left to be read. */
function areFirst(rows: SortedRows, { scan: { plan, wanted }, bound }: AnswerTask): boolean {
  return bound === undefined || countAhead(rows, plan.sort, bound) >= wanted
}

/** Runs the plan's stages; of a scan that was profiled, with its operators before theirs. */
function finish(scanned: Scanned, task: AnswerTask, storage: TaskStorage): FinishResult {
  const { plan, context, semiJoinSets, inputs, cancelled, isProfiled } = task.scan
  const { sink } = scanned
  if (sink instanceof GroupSink && !task.known)
    return finishScanned(sink, scanned, task.scan, storage)
  const result = resultOf(scanned)
  const input =
    result.kind === 'rows'
      ? ({ kind: 'rows', lists: [withinLimit(result.rows, plan)] } as const)
      : ({
          kind: 'groups',
          partials: task.known ? [result, task.known] : [result],
          local: [],
          dictionaries: [],
        } as const)
  const segments = segmentsOf(inputs)
  const finished = runFinish(
    { kind: 'finish', isProfiled, plan, context, semiJoinSets, input, segments, cancelled },
    storage,
  )
  const { operators } = result.metrics
  return operators ? { ...finished, operators: [...operators, ...finished.operators!] } : finished
}

/** Of a scan that was profiled, with what the operators did. */
function withOperators(
  metrics: ScanMetrics,
  operators: readonly OperatorMetrics[] | undefined,
  last: OperatorMetrics,
): ScanMetrics {
  return operators ? { ...metrics, operators: [...operators, last] } : metrics
}

function withinLimit(rows: SortedRows, { offset, limit = Number.POSITIVE_INFINITY }: PhysicalPlan) {
  if (offset === 0 && limit >= rows.object.length) return rows
  return sliceSortedRows(rows, offset, offset + limit)
}

interface Printed {
  readonly rows: PrintedRows
  readonly form: RowForm
  readonly operator: OperatorMetrics
}

function print(
  relation: Relation,
  task: AnswerTask,
  storage: TaskStorage,
  out: ByteWriter | undefined,
): Printed {
  const { plan, context, semiJoinSets, inputs } = task.scan
  const segments = segmentsOf(inputs)
  const started = performance.now()
  const form =
    task.form.kind === 'json'
      ? task.form
      : inferForm({ plan, context, semiJoinSets, relation, segments, form: task.form }, storage)
  const input = { plan, context, semiJoinSets, relation, segments, form }
  const rows = printRows(input, storage, task.printedBytes, out)
  const { rowCount, bytes } = rows
  const operator = {
    operator: 'print',
    rowsIn: rowCount,
    rowsOut: rowCount,
    bytes: bytes.length,
    milliseconds: performance.now() - started,
  }
  return { rows, form, operator }
}

function placeOfLast(rowCount: number, placeOf: (row: number) => RowPlace): RowPlace {
  return rowCount === 0 ? noAnswer.place : placeOf(rowCount - 1)
}

/** Without rows. */
const noAnswer: Omit<AnswerResult, 'form' | 'metrics'> = {
  kind: 'answer',
  rowCount: 0,
  bytes: new Uint8Array(0),
  rawBytes: 0,
  place: { last: undefined, lastSorted: undefined },
  madeColumns: [],
  rest: undefined,
}
