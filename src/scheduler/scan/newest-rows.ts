/** The newest rows of a scan without conditions are the last ones of its newest fresh part or segment. */
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { TaskReads } from '../../storage/read/task-reads.ts'
import { paginationKeyAt } from '../../vector/row-keys.ts'
import { type SplitInputs, wantedRows } from './scan-rows.ts'
import { clusterByAge, isAllVisible, openKeys, rowsOfPiece } from './split.ts'

/** Leaves out what cannot be among the rows that are wanted; the same where that is not known. */
export function newestRows(
  split: SplitInputs,
  plan: PhysicalPlan,
  transaction: number,
  reads: Pick<TaskReads, 'openSegment' | 'records'>,
): SplitInputs {
  const wanted = wantedRows(plan)
  const { pieces, others } = split
  if (others.length > 0 || pieces.length === 0 || !areAllWanted(plan)) return split
  const [piece, ...overlapping] = clusterByAge(pieces)[0]!
  if (!piece || overlapping.length > 0) return split
  const { from, to } = piece.input
  if (to - from < wanted) return split
  const first = to - wanted
  const oldest = paginationKeyAt(openKeys(piece.input, reads).keys, first)
  const newest = { ...rowsOfPiece(piece, { from: first, to }), oldest }
  return isAllVisible(newest, transaction, reads.records) ? { ...split, pieces: [newest] } : split
}

/** Whether every visible row is one of the answer, the newest first. */
function areAllWanted({ access, predicates, after }: PhysicalPlan): boolean {
  return access.kind === 'scan' && access.order === 'newest' && predicates.length === 0 && !after
}
