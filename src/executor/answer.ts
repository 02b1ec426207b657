/** A whole plan in one task, for one that reads little: it is scanned, finished and printed. */
import { runFinish } from './finish.ts'
import { printRows } from './print.ts'
import { type Relation, sliceRelation } from './relation.ts'
import { relationOfRows } from './relation-rows.ts'
import { sliceSortedRows } from './row-buffer.ts'
import { placeOfFinished, placeOfRow, type RowPlace } from './row-place.ts'
import type { TaskStorage } from './row-run.ts'
import { runScan } from './scan.ts'
import type { AnswerResult, AnswerTask, FinishResult, RowsResult } from './task.ts'

export function runAnswer(task: AnswerTask, storage: TaskStorage): AnswerResult {
  const scanned = runScan(task.scan, storage)
  if (scanned.kind === 'rows' && task.scan.plan.then.length === 0) {
    return answerRows(scanned, task, storage)
  }
  const { plan, context, traceSets, cancelled } = task.scan
  const input =
    scanned.kind === 'rows'
      ? ({ kind: 'rows', rows: withinLimit(scanned, task).rows } as const)
      : ({
          kind: 'groups',
          partials: task.known ? [scanned, task.known] : [scanned],
          settled: [],
          dictionaries: [],
        } as const)
  const finished = runFinish(
    { kind: 'finish', plan, context, traceSets, input, cancelled },
    storage,
  )
  return { ...answerFinished(finished, task, storage), metrics: scanned.metrics }
}

function answerRows(scanned: RowsResult, task: AnswerTask, storage: TaskStorage): AnswerResult {
  const { plan } = task.scan
  const { rows, metrics } = withinLimit(scanned, task)
  const total = rows.object.length
  const { rowCount, bytes } = print(relationOfRows(plan, rows), task, storage)
  return {
    kind: 'answer',
    metrics,
    rowCount,
    bytes,
    place: placeOfLast(rowCount, (row) => placeOfRow(plan, rows, row)),
    madeColumns: [],
    rest:
      rowCount < total
        ? { kind: 'rows', rows: sliceSortedRows(rows, rowCount, total), metrics }
        : undefined,
  }
}

function answerFinished(
  finished: FinishResult,
  task: AnswerTask,
  storage: TaskStorage,
): Omit<AnswerResult, 'metrics'> {
  const { relation, lastSorted } = finished
  const { plan } = task.scan
  const { rowCount, bytes } = print(relation, task, storage)
  const rest = sliceRelation(relation, rowCount, relation.rowCount)
  return {
    kind: 'answer',
    rowCount,
    bytes,
    place: placeOfLast(rowCount, (row) => placeOfFinished(plan, finished, row)),
    madeColumns: plan.output.star ? relation.fields.map(({ name }) => name) : [],
    rest: rest.rowCount > 0 ? { kind: 'finish', relation: rest, lastSorted } : undefined,
  }
}

function withinLimit({ rows, metrics }: RowsResult, { scan }: AnswerTask): RowsResult {
  const { offset, limit = Number.POSITIVE_INFINITY } = scan.plan
  const total = rows.object.length
  const kept = offset === 0 && limit >= total ? rows : sliceSortedRows(rows, offset, offset + limit)
  return { kind: 'rows', rows: kept, metrics }
}

function print(
  relation: Relation,
  { scan, separator, printedBytes }: AnswerTask,
  storage: TaskStorage,
) {
  const { plan, context, traceSets, cancelled } = scan
  return printRows(
    { kind: 'print', plan, context, traceSets, relation, separator, cancelled },
    storage,
    printedBytes,
  )
}

function placeOfLast(rowCount: number, placeOf: (row: number) => RowPlace): RowPlace {
  return rowCount === 0 ? { last: undefined, lastSorted: undefined } : placeOf(rowCount - 1)
}
