/**
 * Leaves of the granules that the key index names the very rows that have what is looked for, so that a
 * trace, or a user's few rows, are read as fast as records by their ids.
 */
import type { PrunedRange } from '../../executor/scan/prune.ts'
import { rowsWithText } from '../../executor/text/rows-with-text.ts'
import type { AskedTexts } from '../../planner/access-path.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { TaskReads } from '../../storage/read/task-reads.ts'
import type { ColumnSet } from '../../vector/column.ts'
import { granuleRows } from '../../vector/column.ts'
import { joinRanges, narrowRange, openColumns, rowsOfRanges, type ScanRange } from './scan-range.ts'
import type { SplitInputs } from './scan-rows.ts'
import { wantedTexts } from './wanted-texts.ts'

/** Of texts that are compared: a few tenths of a millisecond. */
const mostComparisons = 8 * granuleRows

/** Runs of rows that follow each other, beyond which to open each costs more than it saves. */
const mostRuns = 64

/** Rows between two runs that are read sooner than a run is opened: spans of a trace lie among those of others. */
const mostBetween = 64

/**
 * The rows that may pass, by a predicate that asks for a few texts; the same split when there is none, or
 * when too much would have to be looked at.
 */
export function exactRows(
  split: SplitInputs,
  plan: PhysicalPlan,
  reads: Pick<TaskReads, 'openSegment' | 'openMemtable'>,
): SplitInputs {
  const { ranges, others } = split
  const { access, predicates } = plan
  if (access.kind !== 'scan' || access.by === undefined) return split
  const first = wantedTexts(predicates[access.by]!, [])
  if (!first || ranges.length === 0 || others.length > 0) return split
  if (rowsOfRanges(ranges) * first.texts.length > mostComparisons) return split
  const exact = ranges.flatMap((range): readonly ScanRange[] => {
    const exactRows = rangesOf(openColumns(range.input, reads), first, range.input)
    return exactRows?.map((rows) => narrowRange(range, rows)) ?? [range]
  })
  return { ...split, ranges: exact }
}

/** Runs of the rows of an input that have one of the texts; undefined when these are not found out. */
function rangesOf(
  set: ColumnSet,
  { path, texts }: AskedTexts,
  { from, to }: PrunedRange,
): { from: number; to: number }[] | undefined {
  const rows = rowsWithText(set, path, texts, from, to)
  if (!rows) return undefined
  const ranges: { from: number; to: number }[] = []
  for (const row of rows) {
    const last = ranges.at(-1)
    if (last?.to === row) last.to++
    else if (ranges.length === mostRuns) return undefined
    else ranges.push({ from: row, to: row + 1 })
  }
  return ranges
}

/** The same with fewer runs, for a plan whose predicates are asked of the rows between them as well. */
export function nearRuns(split: SplitInputs): SplitInputs {
  return { ...split, ranges: joinRanges(split.ranges, mostBetween) }
}
