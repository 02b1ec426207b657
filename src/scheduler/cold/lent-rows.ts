/** Rows that the cluster has and a task reads by their keys: they are lent to it. */
import type { ColdKey } from '../../clickhouse/read/cold-reader.ts'
import { AssayError, type EvictedVersion } from '../../error.ts'
import type { RowList } from '../../executor/column/row-list.ts'
import type { Task } from '../../executor/task/task.ts'
import { overBudget } from '../../executor/thread/memory-limit.ts'
import { describeLent } from '../../storage/row/lent-rows.ts'
import { paginationKeyAt, versionKeyAt } from '../../vector/row-keys.ts'
import { type ColdView, faultsTold } from './cold-view.ts'

/** @param budgetBytes what they may take together */
export async function rowsToLend(
  keys: readonly ColdKey[],
  cold: ColdView,
  signal: AbortSignal,
  budgetBytes: number,
): Promise<SharedArrayBuffer[]> {
  const parts: SharedArrayBuffer[] = []
  let bytes = 0
  for await (const part of faultsTold(cold.reader.byKeys(keys, cold, signal))) {
    bytes += part.byteLength
    if (bytes > budgetBytes) throw overBudget(budgetBytes)
    parts.push(part)
  }
  return parts
}

/** Bodies of row versions that have left the data directory: all of them. */
export async function bodiesOf(
  evicted: readonly EvictedVersion[],
  cold: Pick<ColdView, 'exportedThrough' | 'round' | 'reader'>,
  signal: AbortSignal,
  budgetBytes: number,
): Promise<readonly SharedArrayBuffer[]> {
  const keys = new Map(evicted.map((each) => [JSON.stringify([each.object, each.version]), each]))
  const parts: SharedArrayBuffer[] = []
  let bytes = 0
  let rows = 0
  for await (const part of faultsTold(cold.reader.byKeys([...keys.values()], cold, signal))) {
    bytes += part.byteLength
    rows += describeLent(part).rowCount
    if (bytes > budgetBytes) throw overBudget(budgetBytes)
    parts.push(part)
  }
  if (rows >= keys.size) return parts
  throw new AssayError(
    'BACKEND_FAILED',
    `older records are in ClickHouse alone, and it has ${rows} of ${keys.size} that were asked for`,
    { hint: 'bring the tables back from a backup of ClickHouse' },
  )
}

/** Of rows that a task reads by their keys and only the cluster has. */
export function coldKeysOf(
  task: Task,
  { exportedThrough }: Pick<ColdView, 'exportedThrough'>,
): ColdKey[] {
  return listsOf(task).flatMap((rows) => {
    const keys: ColdKey[] = []
    for (let row = 0; row < rows.object.length; row++) {
      if (rows.object[row]! < 0 || rows.transaction[row]! > exportedThrough) continue
      keys.push({
        object: rows.object[row]!,
        paginationKey: paginationKeyAt(rows, row),
        version: versionKeyAt(rows, row),
      })
    }
    return keys
  })
}

/** Rows of which a task may read fields. */
function listsOf(task: Task): readonly RowList[] {
  switch (task.kind) {
    case 'print':
    case 'infer form': {
      const { rows, compared } = task.relation
      return [rows, compared].filter((list) => list !== undefined)
    }
    case 'finish': {
      const { input, plan } = task
      if (plan.stages.length === 0) return []
      if (input.kind === 'rows') return input.lists
      // What else reads fields of the rows of groups has them as columns of these (`planner/group-columns.ts`).
      if (!plan.stages.some(({ kind }) => kind === 'compare')) return []
      const local = input.local.flatMap((each) => {
        return each.kind === 'rows' ? each.relation.rows : each.groups.rows
      })
      return [...input.partials.map(({ rows }) => rows), ...local].filter(
        (list) => list !== undefined,
      )
    }
    default:
      return []
  }
}
