/** A whole plan in one task, for one that reads little: it is scanned, finished and printed. */
import type { PhysicalPlan } from '../planner/physical-plan.ts'
import type { OperatorMetrics } from '../planner/plan-profile.ts'
import { runFinish } from './finish.ts'
import { printRows } from './print.ts'
import { type Relation, sliceRelation } from './relation.ts'
import { relationOfRows } from './relation-rows.ts'
import { type SortedRows, sliceSortedRows } from './row-buffer.ts'
import { placeOfFinished, placeOfRow, type RowPlace } from './row-place.ts'
import type { TaskStorage } from './row-run.ts'
import { runScan } from './scan.ts'
import { settleForm } from './settle-form.ts'
import type { AnswerResult, AnswerTask, ScanMetrics } from './task.ts'

export function runAnswer(task: AnswerTask, storage: TaskStorage): AnswerResult {
  const { plan, context, traceSets, cancelled, isProfiled } = task.scan
  const scanned = runScan(task.scan, storage)
  if (scanned.kind === 'rows' && plan.then.length === 0) {
    const rows = withinLimit(scanned.rows, plan)
    const { answer, operator } = print(relationOfRows(plan, rows), task, storage)
    const { rowCount } = answer
    const total = rows.object.length
    const { metrics } = scanned
    const rest = { kind: 'rows', rows: sliceSortedRows(rows, rowCount, total), metrics } as const
    return {
      ...answer,
      metrics: withOperators(metrics, [operator]),
      place: placeOfLast(rowCount, (row) => placeOfRow(plan, rows, row)),
      madeColumns: [],
      rest: rowCount < total ? rest : undefined,
    }
  }
  const input =
    scanned.kind === 'rows'
      ? ({ kind: 'rows', rows: withinLimit(scanned.rows, plan) } as const)
      : ({
          kind: 'groups',
          partials: task.known ? [scanned, task.known] : [scanned],
          settled: [],
          dictionaries: [],
        } as const)
  const finished = runFinish(
    { kind: 'finish', isProfiled, plan, context, traceSets, input, cancelled },
    storage,
  )
  const { relation, lastSorted, operators = [] } = finished
  const { answer, operator } = print(relation, task, storage)
  const { rowCount } = answer
  const rest = sliceRelation(relation, rowCount, relation.rowCount)
  return {
    ...answer,
    metrics: withOperators(scanned.metrics, [...operators, operator]),
    place: placeOfLast(rowCount, (row) => placeOfFinished(plan, finished, row)),
    madeColumns: plan.output.star ? relation.fields.map(({ name }) => name) : [],
    rest: rest.rowCount > 0 ? { kind: 'finish', relation: rest, lastSorted } : undefined,
  }
}

/** Of a scan that was profiled, with the operators that came after it. */
function withOperators(metrics: ScanMetrics, more: readonly OperatorMetrics[]): ScanMetrics {
  const { operators } = metrics
  return operators ? { ...metrics, operators: [...operators, ...more] } : metrics
}

function withinLimit(rows: SortedRows, { offset, limit = Number.POSITIVE_INFINITY }: PhysicalPlan) {
  if (offset === 0 && limit >= rows.object.length) return rows
  return sliceSortedRows(rows, offset, offset + limit)
}

function print(relation: Relation, task: AnswerTask, storage: TaskStorage) {
  const { plan, context, traceSets } = task.scan
  const started = performance.now()
  const input = { plan, context, traceSets, relation }
  const form =
    task.form.kind === 'json' ? task.form : settleForm({ ...input, form: task.form }, storage)
  const printed = printRows({ ...input, form }, storage, task.printedBytes)
  const { rowCount, bytes } = printed
  const milliseconds = performance.now() - started
  const counts = { rowsIn: rowCount, rowsOut: rowCount, bytes: bytes.length }
  const operator: OperatorMetrics = { operator: 'print', ...counts, milliseconds }
  return { answer: { kind: 'answer', form, ...printed }, operator } as const
}

function placeOfLast(rowCount: number, placeOf: (row: number) => RowPlace): RowPlace {
  return rowCount === 0 ? { last: undefined, lastSorted: undefined } : placeOf(rowCount - 1)
}
