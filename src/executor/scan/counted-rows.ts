/** Rows of which a query asks only how many they are, where indexes of texts tell it. */

import type { TextCandidates } from '../text/text-candidates.ts'
import type { RowRun } from './row-run.ts'

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
