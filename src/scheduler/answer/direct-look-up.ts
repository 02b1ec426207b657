/**
 * Whole records by their ids, printed within one turn of the event loop: what most small requests ask
 * for, and what a general plan takes ten times as long for, since it makes batches, filters and sorts
 * to come to the same rows.
 */

import { ByteWriter } from '../../json/byte-writer.ts'
import type { PhysicalPlan, PhysicalQuery } from '../../planner/physical-plan.ts'
import type { TaskReads } from '../../storage/read/task-reads.ts'
import type { ObjectConstants } from '../../storage/row/row.ts'
import type { CachedRow, RowCache } from '../../storage/row/row-cache.ts'
import { compareRowKeys } from '../../type/transaction.ts'
import type { InlineAnswer } from './inline-scan.ts'

/** More are ordered by the general way. */
const mostRecords = 1

/** Whether the plan only reads one record by its id and shows it as it is. */
export function isDirect({ semiJoinSets, plan }: PhysicalQuery): boolean {
  const { access, objects, stage, output } = plan
  return (
    access.kind === 'look_up' &&
    access.ids.length * objects.length === mostRecords &&
    semiJoinSets.length === 0 &&
    stage.kind === 'rows' &&
    stage.carried.length === 0 &&
    plan.stages.length === 0 &&
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
  readonly rows: RowCache
}

/** The id that a plan looks up. */
export function idOf({ plan: { access } }: PhysicalQuery): string | undefined {
  return access.kind === 'look_up' ? access.ids[0] : undefined
}

/** @param transaction the newest one that is seen */
export function lookUp(
  { plan: { objects, after } }: PhysicalQuery,
  id: string | undefined,
  transaction: number,
  from: LookUpReads,
): InlineAnswer {
  const [object] = objects
  const row =
    object && id !== undefined
      ? (from.rows.get(object.number, id) ?? readRow(object, id, transaction, from))
      : undefined
  const isAfter = row && !(after && compareRowKeys(row.paginationKey, after) >= 0)
  return {
    rows: {
      rowCount: isAfter ? 1 : 0,
      bytes: isAfter ? Buffer.from(row.text) : noBytes,
      last: isAfter ? row.paginationKey : undefined,
      lastSorted: undefined,
    },
    madeColumns: [],
    bytesRead: row?.byteLength ?? 0,
    rowsRead: isAfter ? 1 : 0,
  }
}

const noBytes = new Uint8Array()

/** As it is printed; its text is good until the next call. */
function readRow(
  object: ObjectConstants & { readonly number: number },
  id: string,
  transaction: number,
  { reads, rows }: LookUpReads,
): CachedRow | undefined {
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
