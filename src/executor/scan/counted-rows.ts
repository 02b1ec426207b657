/** Rows of which a query asks only how many they are, where indexes of texts tell it. */

import type { TextCandidates } from '../text/text-candidates.ts'
import type { RowRun } from './row-run.ts'

/** Rows of a run that pass for certain are counted; the others that may are left to be asked. */
export interface CountedRows {
  readonly rows: number
  readonly sure: TextCandidates
  readonly others: TextCandidates
  /** Whether no other row of the run may pass: only who is told what was left out goes through its parts. */
  readonly areAll: boolean
}

/** Undefined if some rows of the run are not visible. */
export function countOf(run: RowRun, candidates: TextCandidates): CountedRows | undefined {
  const { sure, others } = candidates.divided()
  const end = run.firstRow + run.rowCount
  const rows = sure.countBetween(run.firstRow, end)
  // Only then is it worth finding out.
  if (rows > 0 && run.visible) return undefined
  return { rows, sure, others, areAll: others.countBetween(run.firstRow, end) === 0 }
}
