/** Answers within one turn of the event loop what is small enough for it (`small-work.ts`). */
import { isHiddenField } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import { resultSchema } from '../../binder/schema.ts'
import type { RowForm } from '../../executor/print/row-form.ts'
import { runTask } from '../../executor/run-task.ts'
import type { SortThreshold } from '../../executor/scan/prune.ts'
import type { AnswerTask } from '../../executor/task/task.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import type { PlannedQuery } from '../../planner/plan-query.ts'
import { formatTransaction } from '../../type/transaction.ts'
import { splitWithoutKnown } from '../scan/answer-from-metadata.ts'
import { AuditLog } from '../scan/audit-log.ts'
import { bestGranules, isAhead } from '../scan/best-granules.ts'
import { exactRows, nearRuns } from '../scan/exact-rows.ts'
import { newestRows } from '../scan/newest-rows.ts'
import { isSmall } from '../scan/small-work.ts'
import type { QuerySnapshot } from '../scan/snapshot.ts'
import { resultOf, type TaskRunner } from '../thread/query-pool.ts'
import { answerTask, inputsOf, printedBytes } from './answer-plan.ts'
import { cursorOf } from './answer-progress.ts'
import type { AnswerNow } from './direct-look-up.ts'

export interface AnswerHereOptions {
  readonly planned: PlannedQuery
  readonly context: EvaluationContext
  readonly snapshot: QuerySnapshot
  readonly form: RowForm
  readonly pool: Pick<TaskRunner, 'findKeys' | 'read'>
  /** That the query may hold. */
  readonly budgetBytes: number
}

/** Answers, which are short but for single long rows, are printed into the same memory again and again. */
const usualBytes = 2 * printedBytes.here
let kept = new ByteWriter(usualBytes)

/**
 * Undefined when it is no small answer after all. Its bytes are valid until the next call. Throws the query's
 * faults.
 */
export function answerHere(options: AnswerHereOptions): AnswerNow | undefined {
  const { planned, context, snapshot, form, pool, budgetBytes } = options
  const { bound, physical, schema, warnings, summary } = planned
  const { plan, traceSets } = physical
  if (traceSets.length > 0) return undefined
  const audit = new AuditLog(false)
  const whole = { name: 'query', plan, context, traceSets: [], snapshot, pool, audit }
  const { transaction } = snapshot
  const all = splitWithoutKnown(whole)
  let behind: SortThreshold | undefined
  const outcome = pool.read((reads) => {
    const newest = newestRows(all, plan, transaction, reads)
    const exact = exactRows(newest, plan, reads)
    const isExact = exact !== newest
    let split = exact
    if (!isSmall(plan, inputsOf(exact), reads)) {
      const best = bestGranules(exact, plan)
      if (!best || !isSmall(plan, inputsOf(best.split), reads)) return undefined
      behind = best.behind
      split = best.split
    }
    const task = answerTask(whole, isExact ? nearRuns(split) : split, form, {
      isProfiled: false,
      budgetBytes,
      printedBytes: printedBytes.here,
      cancelled: undefined,
    })
    if (kept.bytes.length > usualBytes) kept = new ByteWriter(usualBytes)
    return runTask(task, reads, kept)
  })
  if (!outcome) return undefined
  const { rowCount, bytes, place, madeColumns, rest, metrics } = resultOf<AnswerTask>(outcome)
  if (rest) return undefined
  const { last, lastSorted } = place
  const isAll =
    !behind || (rowCount === plan.limit && lastSorted && isAhead(lastSorted, behind, plan))
  if (!isAll) return undefined
  const shown = madeColumns.filter((name) => !isHiddenField(name))
  return {
    rowCount,
    bytes,
    bytesRead: metrics.bytesRead,
    rowsRead: metrics.rowsRead,
    schema: shown.length === 0 ? schema : resultSchema(bound, shown),
    warnings,
    planSummary: summary,
    cursor: cursorOf(bound, { rowCount, last, lastSorted, lastTrace: undefined }),
    lastTransactionId: transaction === 0 ? null : formatTransaction(transaction),
  }
}
