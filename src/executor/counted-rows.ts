/** Rows of which a query asks only how many they are, where indexes of texts tell it: no batch is made of them. */
import type { PhysicalPlan } from '../planner/physical-plan.ts'
import { granuleRows } from '../vector/column.ts'
import type { Batch } from './batch.ts'
import type { RowRun } from './row-run.ts'
import type { TextCandidates } from './text-candidates.ts'

/** Whether the plan asks nothing of a row that passes its predicates. */
export function countsRows({ stage, unpivots }: PhysicalPlan): boolean {
  if (stage.kind !== 'groups' || stage.keys.length > 0 || stage.row) return false
  if (unpivots.length > 0) return false
  return stage.aggregates.every((aggregate) => {
    return aggregate.name === 'count' && aggregate.arguments.length === 0 && !aggregate.filter
  })
}

/** Rows of a run that pass for certain are counted; the others that may are left to be asked. */
export interface CountedRows {
  readonly rows: number
  readonly sure: TextCandidates
  readonly others: TextCandidates
}

/** Undefined if some rows of the run are not visible. */
export function countOf(run: RowRun, candidates: TextCandidates): CountedRows | undefined {
  const { sure, others } = candidates.divided()
  const rows = sure.countBetween(run.firstRow, run.firstRow + run.rowCount)
  // Only then is it worth finding out.
  if (rows > 0 && run.visible) return undefined
  return { rows, sure, others }
}

/** So many rows, in batches that have no fields. */
export function* countedBatches(rows: number): Generator<Batch> {
  for (let left = rows; left > 0; left -= granuleRows) {
    yield { rowCount: Math.min(left, granuleRows), field: noField, isNull: noField }
  }
}

function noField(): never {
  throw new TypeError('rows that are only counted have no fields')
}
