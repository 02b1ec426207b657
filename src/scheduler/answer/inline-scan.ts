/** Scans, finishes and prints within one turn of the event loop what is small enough for it (`cost/cost.ts`). */
import { isHiddenField } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import type { RowForm } from '../../executor/print/row-form.ts'
import { runTask } from '../../executor/run-task.ts'
import type { AnswerResult, AnswerTask } from '../../executor/task/task.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import type { PhysicalPlan, PhysicalQuery } from '../../planner/physical-plan.ts'
import type { TaskReads } from '../../storage/read/task-reads.ts'
import { inlineBytes, isInline, mostInlineRows } from '../cost/cost.ts'
import { exactRows, nearRuns } from '../scan/exact-rows.ts'
import { isOfAll, type SplitInputs } from '../scan/scan-rows.ts'
import type { QuerySnapshot } from '../scan/snapshot.ts'
import { resultOf, type TaskRunner } from '../thread/query-pool.ts'
import type { RowChunk } from './answer-frame.ts'
import {
  answerTask,
  type FirstRead,
  type FirstReadOptions,
  firstRead,
  inputsOf,
  splitAfter,
} from './answer-plan.ts'

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

/**
 * The answer; or what is left to be read, where that may come before what was found; undefined when it is no small work.
 * The plan has no sets of traces. Throws the query's faults.
 */
export function scanInline(
  { physical: { plan }, context, form }: InlineQuery,
  { snapshot, split, pool, budgetBytes }: InlineScanOptions,
): InlineAnswer | SplitInputs | undefined {
  return pool.read((reads) => {
    const options = {
      isProfiled: false,
      budgetBytes,
      printedBytes: inlineBytes,
      cancelled: undefined,
    }
    const run = { context, semiJoinSets: [], snapshot }
    let left: SplitInputs | undefined
    for (const read of readsOf(plan, split, { snapshot, reads })) {
      if (!isInline(read.plan, inputsOf(read.split), reads)) return left
      if (kept.bytes.length > usualBytes) kept = new ByteWriter(usualBytes)
      const outcome = runTask(answerTask(run, read, form, options), reads, kept)
      const result = resultOf<AnswerTask>(outcome)
      if (result.rest) return undefined
      if (!result.found) return answerOf(result)
      left = splitAfter(read, result.found)
    }
    return left
  })
}

/** What may be read one after the other until that is enough. */
function* readsOf(
  plan: PhysicalPlan,
  split: SplitInputs,
  options: FirstReadOptions & { readonly reads: TaskReads },
): Generator<FirstRead> {
  const exact = exactRows(split, plan, options.reads)
  if (exact !== split && isInline(plan, inputsOf(exact), options.reads)) {
    yield { plan, split: nearRuns(exact), bound: undefined, left: [] }
    return
  }
  const most = mostInlineRows(plan)
  if (isOfAll(plan)) yield firstRead(plan, exact, (wanted) => wanted, options)
  yield firstRead(plan, exact, () => most, options)
}

function answerOf({ rowCount, bytes, place, madeColumns, metrics }: AnswerResult): InlineAnswer {
  return {
    rows: { rowCount, bytes: Buffer.from(bytes), ...place },
    madeColumns: madeColumns.filter((name) => !isHiddenField(name)),
    bytesRead: metrics.bytesRead,
    rowsRead: metrics.rowsRead,
  }
}
