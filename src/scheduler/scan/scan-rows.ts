/** Runs the scans of a plan: tasks with a bounded number in flight, and what they give in order. */
import type { BoundAggregate } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import type { ColdSlice, CompiledScan } from '../../clickhouse/read/compiled-scan.ts'
import type { SortedRows } from '../../executor/column/row-list.ts'
import type { SemiJoinSet } from '../../executor/expression/semi-join-set.ts'
import type { SortThreshold } from '../../executor/scan/prune.ts'
import { isUnsuperseded } from '../../executor/scan/visibility.ts'
import { isTaken, sharedInputs } from '../../executor/task/shared-inputs.ts'
import type {
  FinishTask,
  GroupsResult,
  LocalGrouping,
  PartialGroups,
  RowsResult,
  ScanTask,
  SharedInputs,
  SnapshotBounds,
  TakeGroupsResult,
  TaskInput,
} from '../../executor/task/task.ts'
import type { TaskDictionary } from '../../executor/task/task-dictionaries.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { unordered } from '../admission/in-flight.ts'
import { isLookUp } from '../cost/cost.ts'
import type { TaskRunner } from '../thread/query-pool.ts'
import type { QueryTasks } from '../thread/query-tasks.ts'
import type { AuditLog } from './audit-log.ts'
import { coldGroups, takeColdGroups } from './cold-groups.ts'
import { coldInputs, compileCold, readsCold } from './cold-scan.ts'
import { localGroupingKey, localGroupingOf } from './local-grouping.ts'
import { ObjectSegments } from './object-segments.ts'
import { isSegmentRange, type ScanRange } from './scan-range.ts'
import type { QuerySnapshot } from './snapshot.ts'
import { morselsOf, type Split, segmentMorsels, splitScan } from './split.ts'
import type { UsageCache } from './usage-cache.ts'

/** One plan of a query, and what it runs with. */
export interface PlanRun {
  /** `query`, or `traces 0` for the first set of traces, and so on. */
  readonly name: string
  readonly plan: PhysicalPlan
  readonly context: EvaluationContext
  /** Those that were found so far. */
  readonly semiJoinSets: readonly SemiJoinSet[]
  readonly snapshot: QuerySnapshot
  /** What there is to read, once that is known. */
  readonly split?: SplitInputs
  /** See `ScanTask`. */
  readonly longAfter?: ScanTask['longAfter']
  readonly pool: QueryTasks
  readonly usage: UsageCache
  readonly audit: AuditLog
  /** Non-zero once the query is cancelled; shared with the workers. */
  readonly cancelled: Int32Array
}

/** What it takes of a run to find out what there is to read. */
export type SplittingRun = Pick<
  PlanRun,
  'name' | 'plan' | 'semiJoinSets' | 'snapshot' | 'split' | 'audit'
> & { readonly pool: Pick<TaskRunner, 'findKeys' | 'read'> }

/** What the plan's access path reads: ranges of segments and memtables, and what has no order by age. */
export interface SplitInputs {
  readonly ranges: readonly ScanRange[]
  readonly others: readonly TaskInput[]
  /** What metadata has answered; the ranges are what it could not. */
  readonly known?: PartialGroups
  /** Rows of other ranges, which were read before; in order. */
  readonly found?: SortedRows | undefined
  /** How many of the rows that the plan's offset leaves out are neither. */
  readonly skipped?: number
}

/**
 * The groups that each task has found.
 *
 * @param usage `repeated_usage`, where of the cluster only those are wanted that it may find anything in
 */
export async function scanGroups(
  run: PlanRun,
  usage?: BoundAggregate,
): Promise<Extract<FinishTask['input'], { kind: 'groups' }>> {
  const { ranges, others } = splitInputs(run)
  const dictionaries = await sharedDictionaries(run, ranges)
  const partials: GroupsResult[] = []
  const scanAll = async (
    morsels: readonly (readonly TaskInput[])[],
    localGrouping: LocalGrouping | undefined,
  ) => {
    const scan = { run, wanted: 0, dictionaries, localGrouping }
    for await (const result of scanUnits(morsels, scan)) partials.push(result as GroupsResult)
  }
  // Of a group that the cluster has rows of, no task has all.
  const key = readsCold(run) ? undefined : localGroupingKey(run.plan, dictionaries)
  const inputsOf = (some: readonly ScanRange[]) => some.map(({ input }) => input)
  if (key === undefined) {
    const morsels = morselsOf([...others, ...inputsOf(ranges)], run.plan, run.pool.workers)
    // Without keys there is one group even when there are no rows: an empty task makes it.
    await scanAll(morsels.length === 0 ? [[]] : morsels, undefined)
  } else {
    const fresh = ranges.filter((range) => !isSegmentRange(range))
    const before = [...others, ...inputsOf(fresh)]
    if (before.length > 0) await scanAll([before], undefined)
    const morsels = segmentMorsels(ranges.filter(isSegmentRange))
    await scanAll(morsels, localGroupingOf(morsels, key, partials))
  }
  const textsByNumber = dictionaries.map(({ dictionary }) => dictionary)
  const taken: TakeGroupsResult[] = []
  const made = await coldGroups(run, usage)
  try {
    const scan = { run, wanted: 0, dictionaries }
    const rows = made ? made.rest : compileCold(run)
    for await (const result of scanCold(scan, rows)) partials.push(result as GroupsResult)
    const found = made ? takeColdGroups(run, made, partials, textsByNumber) : []
    for await (const result of found) taken.push(result)
  } finally {
    made?.letGo()
  }
  return {
    kind: 'groups',
    partials: [...partials, ...taken.flatMap((each) => each.partials)],
    local: [...partials, ...taken].flatMap(({ local }) => local ?? []),
    dictionaries: textsByNumber,
  }
}

/** Those of the keys of a plan's groups. */
export function sharedDictionaries(
  { plan, pool, snapshot, cancelled }: PlanRun,
  ranges: readonly ScanRange[],
): Promise<readonly TaskDictionary[]> {
  const parts = ranges.filter(isSegmentRange).map(({ input: { segment, from, to } }) => {
    return { segment, rows: to - from }
  })
  return pool.dictionaries.of(plan, parts, snapshot.segments, cancelled)
}

/** Scans the inputs, as many as there are tasks at a time; each part that comes back is in the plan's order. */
export function scanParts(
  inputs: readonly TaskInput[],
  scan: RowsScan,
): AsyncGenerator<RowsResult> {
  const { plan, pool } = scan.run
  return scanUnits(morselsOf(inputs, plan, pool.workers), scan) as AsyncGenerator<RowsResult>
}

/** The same of what the cluster has of a slice, as it comes. */
export function scanColdParts(scan: RowsScan, slice: ColdSlice): AsyncGenerator<RowsResult> {
  return scanCold(scan, compileCold(scan.run, slice)) as AsyncGenerator<RowsResult>
}

/** How the first rows of an order are scanned. */
interface RowsScan {
  readonly run: PlanRun
  readonly wanted: number
  /** First sort keys beyond it are not wanted. */
  readonly threshold?: SortThreshold | undefined
  readonly mayBePartial?: boolean
}

interface UnitsScan extends RowsScan {
  readonly dictionaries?: readonly TaskDictionary[]
  readonly localGrouping?: LocalGrouping | undefined
}

/** Has tasks take the morsels, and gives what each task has found in its morsels. */
async function* scanUnits(
  morsels: readonly (readonly TaskInput[])[],
  scan: UnitsScan,
): AsyncGenerator<GroupsResult | RowsResult> {
  const { pool, audit, name, plan } = scan.run
  if (plan.access.kind === 'look_up') {
    yield* scanLookUp(morsels.flat(), scan)
    return
  }
  const count = Math.min(morsels.length, Math.max(1, pool.workers))
  const { inputs, share } = sharedInputs(morsels, count, pool.waiting)
  const snapshot = { ...boundsOf(scan.run), unsuperseded: unsupersededOf(inputs, scan.run) }
  const tasks = function* () {
    for (let i = 0; i < count; i++) yield () => runScan(inputs, share, snapshot, scan)
    // A task has left some, as others waited.
    while (!isTaken(share)) yield () => runScan(inputs, share, snapshot, scan)
  }
  for await (const result of unordered(tasks(), count)) {
    audit.task(name, result.metrics)
    yield result
  }
}

/** In one task, which can be run again where bodies that it meets are to be fetched: what a list has lost to a task is gone. */
async function* scanLookUp(
  inputs: readonly TaskInput[],
  scan: UnitsScan,
): AsyncGenerator<GroupsResult | RowsResult> {
  const result = await runScan(inputs, undefined, boundsOf(scan.run), scan)
  scan.run.audit.task(scan.run.name, result.metrics)
  yield result
}

/** Scans rows of the cluster, part by part: no more come than tasks are at work. */
async function* scanCold(
  scan: UnitsScan,
  compiled: CompiledScan | undefined,
): AsyncGenerator<GroupsResult | RowsResult> {
  const { pool, audit, name } = scan.run
  const snapshot = boundsOf(scan.run)
  const task = (inputs: readonly TaskInput[]) => () => runScan(inputs, undefined, snapshot, scan)
  const tasks = mapped(coldInputs(scan.run, compiled), task)
  for await (const result of unordered(tasks, Math.max(1, pool.workers))) {
    audit.task(name, result.metrics)
    yield result
  }
}

async function* mapped<From, To>(of: AsyncIterable<From>, map: (each: From) => To) {
  for await (const each of of) yield map(each)
}

function boundsOf({ snapshot: { transaction, cold } }: PlanRun): SnapshotBounds {
  return { transaction, exportedThrough: cold?.exportedThrough }
}

/** Inputs of an object from which on one look at all of it takes less than one at each. */
const worthwhileInputs = 8

function unsupersededOf(inputs: readonly TaskInput[], { pool }: PlanRun): number[] {
  const counts = new Map<number, number>()
  for (const { object } of inputs) counts.set(object, (counts.get(object) ?? 0) + 1)
  const objects = [...counts.keys()].filter((object) => counts.get(object)! >= worthwhileInputs)
  if (objects.length === 0) return []
  return pool.read(({ records }) => objects.filter((object) => isUnsuperseded(object, records)))
}

async function runScan(
  inputs: readonly TaskInput[],
  share: SharedInputs | undefined,
  snapshot: SnapshotBounds,
  { run, wanted, threshold, mayBePartial = false, dictionaries = [], localGrouping }: UnitsScan,
): Promise<GroupsResult | RowsResult> {
  const { plan, context, semiJoinSets, longAfter, pool, audit, cancelled } = run
  const task: ScanTask = {
    kind: 'scan',
    isProfiled: audit.isKept,
    plan,
    context,
    semiJoinSets,
    dictionaries: dictionaries.map((each) => ({ ...each, maps: mapsOf(each, inputs) })),
    localGrouping,
    snapshot,
    inputs,
    share,
    wanted,
    threshold,
    longAfter,
    mayBePartial,
    budgetBytes: pool.budgetBytes,
    cancelled,
  }
  return pool.run(task, isLookUp(plan) || inputs.length === 0)
}

function mapsOf({ maps }: TaskDictionary, inputs: readonly TaskInput[]): Map<number, Int32Array> {
  const read = new Map<number, Int32Array>()
  for (const input of inputs) {
    const map = input.kind === 'segment' ? maps.get(input.segment) : undefined
    if (input.kind === 'segment' && map) read.set(input.segment, map)
  }
  return read
}

export function splitInputs(run: SplittingRun): SplitInputs {
  const { name, plan, semiJoinSets, snapshot, split, pool, audit } = run
  if (split) return split
  const { access } = plan
  if (access.kind === 'empty' || plan.limit === 0) return { ranges: [], others: [] }
  if (access.kind === 'look_up') {
    const others = plan.objects.map(
      (object): TaskInput => ({ kind: 'records', object: object.number, ids: access.ids }),
    )
    audit.add('look_up', audit.now(), { ids: access.ids.length })
    return { ranges: [], others }
  }
  const started = audit.now()
  const { ranges, others, report, skipped }: Split = splitScan(plan, snapshot, semiJoinSets, pool)
  for (const part of skipped) audit.profile(name).skip(part)
  if (audit.isKept) audit.add('prune', started, { ...report })
  return { ranges, others }
}

/** In which rows that the plan gives may be found. */
export function segmentsOf({
  plan,
  snapshot,
}: Pick<PlanRun, 'plan' | 'snapshot'>): readonly number[] {
  return ObjectSegments.ofPlan(plan, snapshot.segments).segmentIds
}

/** Whether every visible row is one of the answer. */
export function isOfAll({ sort, predicates, unpivots }: PhysicalPlan): boolean {
  return sort.length === 0 && predicates.length === 0 && unpivots.length === 0
}

export function wantedRows(plan: PhysicalPlan): number {
  return plan.limit === undefined ? Number.POSITIVE_INFINITY : plan.offset + plan.limit
}

/** Twice the workers, so that none waits for its next task. */
export function inFlight({ pool }: PlanRun): number {
  return Math.max(1, pool.workers * 2)
}
