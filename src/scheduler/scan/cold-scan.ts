/** Candidate rows of the cluster for a scan. */
import type { EvaluationContext } from '../../binder/evaluate.ts'
import { compileScan } from '../../clickhouse/read/compile-scan.ts'
import type { ColdBounds, ColdSlice, CompiledScan } from '../../clickhouse/read/compiled-scan.ts'
import type { SemiJoinSet } from '../../executor/expression/semi-join-set.ts'
import type { ScanTask, TaskInput } from '../../executor/task/task.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { describeLent } from '../../storage/row/lent-rows.ts'
import { type ColdView, faultsTold } from '../cold/cold-view.ts'
import type { AuditLog } from './audit-log.ts'
import type { QuerySnapshot } from './snapshot.ts'
import { toldTraces } from './told-traces.ts'

export interface ColdPlan {
  readonly plan: PhysicalPlan
  readonly context: EvaluationContext
  /** Those that were found so far. */
  readonly semiJoinSets: readonly SemiJoinSet[]
  readonly snapshot: Pick<QuerySnapshot, 'cold' | 'transaction'>
  /** See `ScanTask`. */
  readonly longAfter?: ScanTask['longAfter']
}

export interface ColdRun extends ColdPlan {
  readonly name: string
  /** `ending` is aborted once nobody waits for the answer. */
  readonly pool: {
    readonly ending: AbortSignal
    readonly admitted: () => Promise<void>
    /** Keeps rows that are likely to be printed. */
    readonly noteRead: (part: SharedArrayBuffer) => void
  }
  readonly audit: AuditLog
}

/** Whether the scan of a plan reads of the cluster, too. Records that are looked up are here. */
export function readsCold({ plan, snapshot }: Pick<ColdPlan, 'plan' | 'snapshot'>): boolean {
  const { cold } = snapshot
  if (!cold || plan.access.kind !== 'scan' || plan.limit === 0) return false
  return plan.objects.some(({ number }) => cold.hasRows(number))
}

/**
 * What the cluster is asked for a plan; undefined where it is not.
 *
 * @param slice which of its rows; undefined: all
 */
export function compileCold(run: ColdPlan, slice?: ColdSlice): CompiledScan | undefined {
  const { context, semiJoinSets, snapshot, longAfter } = run
  // A position whose values are told apart from the plan is not told to the nodes.
  const plan = longAfter ? { ...run.plan, afterSorted: undefined, limit: undefined } : run.plan
  const { cold, transaction } = snapshot
  if (!cold || !readsCold({ plan, snapshot })) return undefined
  const objects = plan.objects.filter(({ number }) => cold.hasRows(number))
  return compileScan(
    { ...plan, objects },
    { ...boundsOf(plan, cold, transaction), ...slice },
    context,
    toldTraces(semiJoinSets),
  )
}

/** What a plan reads on the nodes. */
export function boundsOf(
  { objects, after }: PhysicalPlan,
  { exportedThrough, round, reader, endsKnownWith }: ColdView,
  transaction: number,
): ColdBounds {
  const { database } = reader
  const known = endsKnownWith(objects.map(({ number }) => number))
  const ends = { arrivedThrough: known ?? exportedThrough, areEndsKnown: known !== undefined }
  return { database, exportedThrough, ...ends, round, transaction, after }
}

/**
 * Candidate rows of the cluster as inputs of tasks: each time those that one task is to scan.
 *
 * @param compiled what the cluster is asked for them; undefined: there are none
 */
export async function* coldInputs(
  run: ColdRun,
  compiled: CompiledScan | undefined,
): AsyncGenerator<readonly TaskInput[]> {
  if (!compiled) return
  const { name, snapshot, pool, audit } = run
  await pool.admitted()
  const started = audit.now()
  let [rows, bytes] = [0, 0]
  for await (const memory of faultsTold(snapshot.cold!.reader.rows(compiled, pool.ending))) {
    const { objects, rowCount } = describeLent(memory)
    rows += rowCount
    bytes += memory.byteLength
    audit.noteBytes(memory.byteLength)
    if (run.plan.stage.kind === 'rows') pool.noteRead(memory)
    yield [...objects].map((object) => ({ kind: 'lent', object, memory }))
  }
  audit.add('cluster', started, {
    plan: name,
    ...provenOf(compiled),
    sql: compiled.sql,
    rows,
    bytes,
  })
}

/** How the audit log says what the nodes decide and make. */
export function provenOf({ level, left }: Pick<CompiledScan, 'level' | 'left'>) {
  return { level, ...(left && { left }) }
}
