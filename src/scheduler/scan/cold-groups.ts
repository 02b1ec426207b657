/** Groups that the cluster makes of rows that only it has. */
import { compileGroupScan } from '../../clickhouse/read/compile-scan.ts'
import type { CompiledScan } from '../../clickhouse/read/compiled-scan.ts'
import type { PartialGroups } from '../../executor/task/task.ts'
import { overBudget } from '../../executor/thread/memory-limit.ts'
import { faultsTold } from '../cold/cold-view.ts'
import { type GroupRow, groupsOfCluster } from './cluster-groups.ts'
import { type ColdRun, readsCold } from './cold-scan.ts'
import { toldTraces } from './told-traces.ts'

export interface ColdGroups {
  readonly groups: PartialGroups
  /** Rows that are in none of them; undefined: there are none. */
  readonly rest: CompiledScan | undefined
}

/**
 * Undefined where tasks are to aggregate the rows.
 *
 * @param budgetBytes what the groups may take
 */
export async function coldGroups(
  run: ColdRun,
  budgetBytes: number,
): Promise<ColdGroups | undefined> {
  const { name, plan, context, semiJoinSets, snapshot, pool, audit } = run
  const { cold, transaction } = snapshot
  if (!cold || !readsCold(run) || plan.stage.kind !== 'groups') return undefined
  const { exportedThrough, round, reader } = cold
  const { database } = reader
  const bounds = { database, exportedThrough, round, transaction, after: plan.after }
  const compiled = compileGroupScan(plan, bounds, context, toldTraces(semiJoinSets))
  if (!compiled) return undefined
  await pool.admitted()
  const started = audit.now()
  const rows: GroupRow[] = []
  let bytes = 0
  for await (const text of faultsTold(reader.texts(compiled, pool.ending))) {
    bytes += text.length
    if (bytes > budgetBytes) throw overBudget(budgetBytes)
    rows.push(JSON.parse(text) as GroupRow)
  }
  audit.noteBytes(bytes)
  const { level, sql, keyCount, states, rest } = compiled
  audit.add('cluster groups', started, { plan: name, level, sql, rows: rows.length, bytes })
  const { row } = plan.stage
  const form = {
    keyCount,
    states,
    rowValues: row?.values.length,
    hasPreferred: row?.preferred !== undefined,
  }
  return { groups: groupsOfCluster(rows, form), rest }
}
