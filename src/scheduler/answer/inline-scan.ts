/** Scans, finishes and prints within one turn of the event loop what is small enough for it (`cost/cost.ts`). */
import { isHiddenField } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import type { RowForm } from '../../executor/print/row-form.ts'
import { runTask } from '../../executor/run-task.ts'
import type { SortThreshold } from '../../executor/scan/prune.ts'
import type { AnswerTask } from '../../executor/task/task.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import type { PhysicalQuery } from '../../planner/physical-plan.ts'
import { inlineBytes, isInline } from '../cost/cost.ts'
import { bestGranules, isAhead } from '../scan/best-granules.ts'
import { exactRows, nearRuns } from '../scan/exact-rows.ts'
import { newestRows } from '../scan/newest-rows.ts'
import type { SplitInputs } from '../scan/scan-rows.ts'
import type { QuerySnapshot } from '../scan/snapshot.ts'
import { resultOf, type TaskRunner } from '../thread/query-pool.ts'
import type { RowChunk } from './answer-frame.ts'
import { answerTask, inputsOf } from './answer-plan.ts'

export interface InlineQuery {
  readonly physical: PhysicalQuery
  readonly context: EvaluationContext
  readonly form: RowForm
}

/** All rows of an answer, and what there is to say of them. */
export interface InlineAnswer {
  readonly rows: RowChunk
  /** Columns that the data has named. */
  readonly madeColumns: readonly string[]
  readonly bytesRead: number
  readonly rowsRead: number
}

export interface InlineScanOptions {
  readonly snapshot: QuerySnapshot
  /** What there is to read. */
  readonly split: SplitInputs
  readonly pool: Pick<TaskRunner, 'read'>
  /** That the query may hold. */
  readonly budgetBytes: number
}

/** Answers, which are short but for single long rows, are printed into the same memory again and again. */
const usualBytes = 2 * inlineBytes
let kept = new ByteWriter(usualBytes)

/** Undefined when it is no small answer after all. The plan has no sets of traces. Throws the query's faults. */
export function scanInline(
  { physical: { plan }, context, form }: InlineQuery,
  { snapshot, split: all, pool, budgetBytes }: InlineScanOptions,
): InlineAnswer | undefined {
  let behind: SortThreshold | undefined
  const outcome = pool.read((reads) => {
    const newest = newestRows(all, plan, snapshot.transaction, reads)
    const exact = exactRows(newest, plan, reads)
    const isExact = exact !== newest
    let split = exact
    if (!isInline(plan, inputsOf(exact), reads)) {
      const best = bestGranules(exact, plan)
      if (!best || !isInline(plan, inputsOf(best.split), reads)) return undefined
      behind = best.behind
      split = best.split
    }
    const run = { plan, context, traceSets: [], snapshot }
    const task = answerTask(run, isExact ? nearRuns(split) : split, form, {
      isProfiled: false,
      budgetBytes,
      printedBytes: inlineBytes,
      cancelled: undefined,
    })
    if (kept.bytes.length > usualBytes) kept = new ByteWriter(usualBytes)
    return runTask(task, reads, kept)
  })
  if (!outcome) return undefined
  const { rowCount, bytes, place, madeColumns, rest, metrics } = resultOf<AnswerTask>(outcome)
  if (rest) return undefined
  const { lastSorted } = place
  const isAll =
    !behind ||
    (rowCount === plan.limit &&
      lastSorted &&
      lastSorted !== 'long' &&
      isAhead(lastSorted, behind, plan))
  if (!isAll) return undefined
  return {
    rows: { rowCount, bytes: Buffer.from(bytes), ...place },
    madeColumns: madeColumns.filter((name) => !isHiddenField(name)),
    bytesRead: metrics.bytesRead,
    rowsRead: metrics.rowsRead,
  }
}
