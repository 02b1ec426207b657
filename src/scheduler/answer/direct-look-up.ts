/**
 * Whole records by their ids, printed within one turn of the event loop: what most small requests ask
 * for, and what a general plan takes ten times as long for, since it makes batches, filters and sorts
 * to come to the same rows.
 */

import type { ResultSchema } from '../../binder/schema.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import type { QueryWarning } from '../../planner/lint.ts'
import type { PhysicalPlan, PhysicalQuery } from '../../planner/physical-plan.ts'
import type { PlannedQuery } from '../../planner/plan-query.ts'
import type { Template } from '../../planner/plan-template.ts'
import type { TaskReads } from '../../storage/read/task-reads.ts'
import type { KeptRow, KeptRows } from '../../storage/row/kept-rows.ts'
import type { ObjectConstants } from '../../storage/row/row.ts'
import { compareRowKeys, formatTransaction, type RowKey } from '../../type/transaction.ts'
import { cursorOf } from './answer-progress.ts'

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
let kept = new ByteWriter(keptBytes)

export interface LookUpReads {
  readonly reads: TaskReads
  /** Rows as they are now. */
  readonly rows: KeptRows
}

/** Which of a template's literals is the id, if its plans do nothing but look up one record. */
export function idLiteral({ value, places }: Template<PlannedQuery>): number | undefined {
  if (!isDirect(value.physical)) return undefined
  const literals = new Set(places.map(({ literal }) => literal))
  const [id] = literals
  return literals.size === 1 && places.some(({ steps }) => isIdOf(steps)) ? id : undefined
}

function isIdOf(steps: Template<PlannedQuery>['places'][number]['steps']): boolean {
  return steps.join('.') === 'physical.plan.access.ids.0'
}

/** The id that a plan looks up. */
export function idOf({ plan: { access } }: PhysicalQuery): string | undefined {
  return access.kind === 'look_up' ? access.ids[0] : undefined
}

/**
 * @param planned of this id, or of another that differs from it in nothing else
 * @param transaction the newest one that is seen
 */
export function lookUp(
  { bound, physical, schema, warnings, summary }: PlannedQuery,
  id: string | undefined,
  transaction: number,
  from: LookUpReads,
): AnswerNow {
  const printed = printRecord(physical.plan, id, transaction, from)
  const { rowCount, last } = printed
  return {
    rowCount,
    bytes: printed.bytes,
    bytesRead: printed.bytesRead,
    rowsRead: rowCount,
    schema,
    warnings,
    planSummary: summary,
    cursor:
      last && cursorOf(bound, { rowCount, last, lastSorted: undefined, lastTrace: undefined }),
    lastTransactionId: transaction === 0 ? null : formatTransaction(transaction),
  }
}

const noBytes = new Uint8Array()

function printRecord(
  { objects, after }: PhysicalPlan,
  id: string | undefined,
  transaction: number,
  from: LookUpReads,
): RecordRows {
  const [object] = objects
  const row =
    object && id !== undefined
      ? (from.rows.get(object.number, id) ?? readRow(object, id, transaction, from))
      : undefined
  if (!row) return { rowCount: 0, bytes: noBytes, bytesRead: 0, last: undefined }
  const { text, paginationKey, byteLength } = row
  if (after && compareRowKeys(paginationKey, after) >= 0) {
    return { rowCount: 0, bytes: noBytes, bytesRead: byteLength, last: undefined }
  }
  return { rowCount: 1, bytes: text, bytesRead: byteLength, last: paginationKey }
}

/** As it is printed; its text is good until the next call. */
function readRow(
  object: ObjectConstants & { readonly number: number },
  id: string,
  transaction: number,
  { reads, rows }: LookUpReads,
): KeptRow | undefined {
  return reads.withShared(transaction, (records, within) => {
    kept.truncate(0)
    const printed = records.printAsOf(object, id, transaction, kept, within)
    if (!printed) return undefined
    const { paginationKey, byteLength } = printed
    const row = { text: kept.view(), paginationKey, byteLength }
    // It has grown for a large row.
    if (kept.bytes.length > keptBytes) kept = new ByteWriter(keptBytes)
    rows.set(object.number, id, row)
    return row
  })
}
