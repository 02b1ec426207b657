/**
 * Whole records by their ids, printed within one turn of the event loop: what most small requests ask
 * for, and what a general plan takes ten times as long for, since it makes batches, filters and sorts
 * to come to the same rows.
 */

import type { ResultSchema } from '../binder/schema.ts'
import { ByteWriter } from '../json/byte-writer.ts'
import type { QueryWarning } from '../planner/lint.ts'
import type { PhysicalPlan, PhysicalQuery } from '../planner/physical-plan.ts'
import type { PlannedQuery } from '../planner/plan-query.ts'
import type { KeptRows } from '../storage/kept-rows.ts'
import { RowView, writeRow } from '../storage/row.ts'
import type { TaskReads } from '../storage/task-reads.ts'
import { compareRowKeys, formatTransaction, type RowKey } from '../type/transaction.ts'
import { cursorOf, newProgress } from './answer-progress.ts'

/** More are ordered by the general way. */
const mostRecords = 1

interface RecordRows {
  readonly rowCount: number
  /** As JSON; valid until the next look-up in this thread. */
  readonly bytes: Uint8Array
  readonly bytesRead: number
  /** Pagination key of the row. */
  readonly last: RowKey | undefined
}

/** A short answer, and what there is to say of it. */
export interface AnswerNow extends Omit<RecordRows, 'last'> {
  readonly rowsRead: number
  readonly schema: ResultSchema
  readonly warnings: readonly QueryWarning[]
  readonly planSummary: string
  readonly cursor: string | undefined
  readonly lastTransactionId: string | null
}

/** Whether the plan only reads one record by its id and shows it as it is. */
export function isDirect({ traceSets, plan }: PhysicalQuery): boolean {
  const { access, objects, stage, output } = plan
  return (
    access.kind === 'look_up' &&
    access.ids.length * objects.length === mostRecords &&
    traceSets.length === 0 &&
    stage.kind === 'rows' &&
    stage.carried.length === 0 &&
    plan.then.length === 0 &&
    plan.unpivots.length === 0 &&
    plan.sort.length === 0 &&
    plan.offset === 0 &&
    plan.limit !== 0 &&
    objects.every(({ isHistory }) => !isHistory) &&
    output.star &&
    output.columns.length === 0 &&
    output.preview === undefined &&
    isProven(plan)
  )
}

/** Whether a record that was found by the ids passes all predicates: the one that gave the ids. */
function isProven({ predicates }: PhysicalPlan): boolean {
  const [predicate, ...others] = predicates
  return (
    others.length === 0 &&
    predicate?.kind === 'comparison' &&
    predicate.operator === 'eq' &&
    [predicate.left, predicate.right].some(
      (side) => side.kind === 'field' && side.path.length === 1 && side.path[0] === 'id',
    )
  )
}

/** Records of usual size are printed into the same memory again and again. */
const keptBytes = 1 << 20
const kept = new ByteWriter(keptBytes)

export interface LookUpReads {
  readonly reads: TaskReads
  /** Rows as they are now. */
  readonly rows: KeptRows
}

/** @param transaction the newest one that is seen */
export function lookUp(
  { bound, physical, schema, warnings, summary }: PlannedQuery,
  transaction: number,
  from: LookUpReads,
): AnswerNow {
  const printed = printRecord(physical.plan, transaction, from)
  const { rowCount, last } = printed
  return {
    rowCount,
    bytes: printed.bytes,
    bytesRead: printed.bytesRead,
    rowsRead: rowCount,
    schema,
    warnings,
    planSummary: summary,
    cursor: last && cursorOf(bound, { ...newProgress(), rowCount, last }),
    lastTransactionId: transaction === 0 ? null : formatTransaction(transaction),
  }
}

const noBytes = new Uint8Array()

function printRecord(plan: PhysicalPlan, transaction: number, from: LookUpReads): RecordRows {
  const { access, objects, after } = plan
  const [object] = objects
  const id = access.kind === 'look_up' ? access.ids[0] : undefined
  const view =
    object && id !== undefined ? readRow(object.number, id, transaction, from) : undefined
  if (!object || !view) return { rowCount: 0, bytes: noBytes, bytesRead: 0, last: undefined }
  const { paginationKey } = view
  const bytesRead = view.bytes.length
  if (after && compareRowKeys(paginationKey, after) >= 0) {
    return { rowCount: 0, bytes: noBytes, bytesRead, last: undefined }
  }
  const out = bytesRead > keptBytes / 2 ? new ByteWriter(bytesRead * 2) : kept
  out.truncate(0)
  writeRow(view, object, out)
  return { rowCount: 1, bytes: out.view(), bytesRead, last: paginationKey }
}

/** Good until the current turn of the event loop ends. */
function readRow(
  object: number,
  id: string,
  transaction: number,
  { reads, rows }: LookUpReads,
): RowView | undefined {
  const known = rows.get(object, id)
  if (known) return new RowView(known)
  return reads.during(({ records }) => {
    const view = records.versionAsOf(object, id, transaction)?.view
    if (view) rows.set(object, id, view.bytes)
    return view
  })
}
