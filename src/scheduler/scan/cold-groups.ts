/** Groups that the cluster makes of rows that only it has. */
import type { BoundAggregate } from '../../binder/bound.ts'
import { compileGroupScan } from '../../clickhouse/read/compile-scan.ts'
import type { CompiledGroupScan, CompiledScan } from '../../clickhouse/read/compiled-scan.ts'
import type { PartialGroups } from '../../executor/task/task.ts'
import { overBudget } from '../../executor/thread/memory-limit.ts'
import { faultsTold } from '../cold/cold-view.ts'
import { type GroupRow, groupsOfCluster } from './cluster-groups.ts'
import { boundsOf, type ColdPlan, type ColdRun, provenOf, readsCold } from './cold-scan.ts'
import { toldTraces } from './told-traces.ts'

/**
 * Undefined where the cluster is not asked for groups of a plan.
 *
 * @param usage see `CompileGroupScan`
 */
export function compileColdGroups(
  run: ColdPlan,
  usage?: BoundAggregate,
): CompiledGroupScan | undefined {
  const { plan, context, semiJoinSets, snapshot } = run
  const { cold, transaction } = snapshot
  if (!cold || !readsCold(run) || plan.stage.kind !== 'groups') return undefined
  const bounds = boundsOf(plan, cold, transaction)
  return compileGroupScan(plan, bounds, context, toldTraces(semiJoinSets), usage)
}

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
  usage?: BoundAggregate,
): Promise<ColdGroups | undefined> {
  const { name, plan, snapshot, pool, audit } = run
  const compiled = compileColdGroups(run, usage)
  if (!compiled || plan.stage.kind !== 'groups') return undefined
  await pool.admitted()
  const started = audit.now()
  const rows: GroupRow[] = []
  let [bytes, inDoubt] = [0, 0]
  for await (const text of faultsTold(snapshot.cold!.reader.texts(compiled, pool.ending))) {
    bytes += text.length
    if (bytes > budgetBytes) throw overBudget(budgetBytes)
    const row = JSON.parse(text) as GroupRow | number
    if (typeof row === 'number') inDoubt += row
    else rows.push(row)
  }
  audit.noteBytes(bytes)
  const { sql, keyCount, states, rest, isRestCounted } = compiled
  const made = { sql, rows: rows.length, bytes }
  audit.add('cluster groups', started, { plan: name, ...provenOf(compiled), ...made })
  const { row } = plan.stage
  const form = {
    keyCount,
    states,
    rowValues: row?.values.length,
    hasPreferred: row?.preferred !== undefined,
  }
  const hasRest = !isRestCounted || inDoubt > 0
  return { groups: groupsOfCluster(rows, form), rest: hasRest ? rest : undefined }
}
