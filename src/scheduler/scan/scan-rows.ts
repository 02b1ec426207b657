/** Runs the scans of a plan: tasks with a bounded number in flight, and what they give in order. */
import type { EvaluationContext } from '../../binder/evaluate.ts'
import type { TraceSet } from '../../executor/expression/trace-set.ts'
import { countRows, type SortedRows, sliceSortedRows } from '../../executor/order/row-list.ts'
import { positionAfter } from '../../executor/relation/relation-rows.ts'
import type { SortThreshold } from '../../executor/scan/prune.ts'
import { isUnsuperseded } from '../../executor/scan/visibility.ts'
import { isTaken, type SharedInputs, sharedInputs } from '../../executor/task/shared-inputs.ts'
import type {
  FinishTask,
  GroupsResult,
  PartialGroups,
  RowsResult,
  ScanTask,
  Settling,
  SnapshotBounds,
  TaskInput,
} from '../../executor/task/task.ts'
import type { TaskDictionary } from '../../executor/task/task-dictionaries.ts'
import { checkLimit, maximumHeldRows } from '../../executor/thread/memory-limit.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import { paginationKeyAt } from '../../vector/row-keys.ts'
import { inOrder, unordered } from '../admission/in-flight.ts'
import { isLookUp, isShortMerge } from '../cost/cost.ts'
import type { TaskRunner } from '../thread/query-pool.ts'
import type { QueryTasks } from '../thread/query-tasks.ts'
import type { AuditLog } from './audit-log.ts'
import { FirstRows, orderParts, orderRows, type PartOfRows } from './merge-rows.ts'
import { ObjectParts } from './object-parts.ts'
import { ScanSteps } from './scan-steps.ts'
import { settlingKey, settlingOf } from './settling.ts'
import { skipKnown } from './skip-known.ts'
import type { QuerySnapshot } from './snapshot.ts'
import {
  bySortValue,
  clusterByAge,
  isSegmentPiece,
  type Piece,
  type Split,
  segmentUnits,
  splitScan,
  unitsOf,
} from './split.ts'

/** One plan of a query, and what it runs with. */
export interface PlanRun {
  /** `query`, or `traces 0` for the first set of traces, and so on. */
  readonly name: string
  readonly plan: PhysicalPlan
  readonly context: EvaluationContext
  /** Those that were found so far. */
  readonly traceSets: readonly TraceSet[]
  readonly snapshot: QuerySnapshot
  /** What there is to read, once that is known. */
  readonly split?: SplitInputs
  /** See `ScanTask`. */
  readonly longAfter?: ScanTask['longAfter']
  readonly pool: QueryTasks
  readonly audit: AuditLog
  /** Non-zero once the query is cancelled; shared with the workers. */
  readonly cancelled: Int32Array
}

/** What it takes of a run to find out what there is to read. */
export type SplittingRun = Pick<
  PlanRun,
  'name' | 'plan' | 'traceSets' | 'snapshot' | 'split' | 'audit'
> & { readonly pool: Pick<TaskRunner, 'findKeys' | 'read'> }

/** What the plan's access path reads: pieces of segments and fresh parts, and what has no order by age. */
export interface SplitInputs {
  readonly pieces: readonly Piece[]
  readonly others: readonly TaskInput[]
  /** What metadata has answered; the pieces are what it could not. */
  readonly known?: PartialGroups
}

/** The groups that each task has found. */
export async function scanGroups(
  run: PlanRun,
): Promise<Extract<FinishTask['input'], { kind: 'groups' }>> {
  const { pieces, others } = splitInputs(run)
  const dictionaries = await sharedDictionaries(run, pieces)
  const partials: GroupsResult[] = []
  const scanAll = async (
    units: readonly (readonly TaskInput[])[],
    settling: Settling | undefined,
  ) => {
    const scan = { run, wanted: 0, dictionaries, settling }
    for await (const result of scanUnits(units, scan)) partials.push(result as GroupsResult)
  }
  const key = settlingKey(run.plan, dictionaries)
  const inputsOf = (some: readonly Piece[]) => some.map(({ input }) => input)
  if (key === undefined) {
    const units = unitsOf([...others, ...inputsOf(pieces)], run.plan, run.pool.workers)
    // Without keys there is one group even when there are no rows: an empty task makes it.
    await scanAll(units.length === 0 ? [[]] : units, undefined)
  } else {
    const fresh = pieces.filter((piece) => !isSegmentPiece(piece))
    const before = [...others, ...inputsOf(fresh)]
    if (before.length > 0) await scanAll([before], undefined)
    const units = segmentUnits(pieces.filter(isSegmentPiece))
    await scanAll(units, settlingOf(units, key, partials))
  }
  return {
    kind: 'groups',
    partials,
    settled: partials.flatMap(({ settled }) => settled ?? []),
    dictionaries: dictionaries.map((each) => each.dictionary),
  }
}

function sharedDictionaries(
  { plan, pool, snapshot, cancelled }: PlanRun,
  pieces: readonly Piece[],
): Promise<readonly TaskDictionary[]> {
  const parts = pieces.filter(isSegmentPiece).map(({ input: { segment, from, to } }) => {
    return { segment, rows: to - from }
  })
  return pool.dictionaries.of(plan, parts, snapshot.segments, cancelled)
}

export interface ScanRowsOptions {
  /** Whether rows are let go of before more are asked for: so many may come that not all fit into memory. */
  readonly areLetGo?: boolean
  /** Is called when scans that were begun ahead need not end. */
  readonly onEnough?: () => void
}

/** The rows of the plan's order, from its offset to its limit, as they are found. */
export async function* scanRows(
  run: PlanRun,
  { areLetGo = false, onEnough }: ScanRowsOptions = {},
): AsyncGenerator<SortedRows> {
  const { plan } = run
  if (plan.limit === 0 || plan.access.kind === 'empty') return
  const offset = { rows: plan.offset }
  let wanted = plan.limit ?? Number.POSITIVE_INFINITY
  const found = plan.sort.length === 0 ? rowsByAge(run, offset) : rowsSorted(run, areLetGo)
  for await (const rows of found) {
    const from = Math.min(offset.rows, rows.object.length)
    const to = Math.min(rows.object.length, from + wanted)
    offset.rows -= from
    wanted -= to - from
    if (to > from) yield sliceSortedRows(rows, from, to)
    if (wanted > 0) continue
    onEnough?.()
    return
  }
}

/** Rows by the sort keys: all of them in one piece unless they may come in several. */
async function* rowsSorted(run: PlanRun, mayBePartial: boolean): AsyncGenerator<SortedRows> {
  const { plan } = run
  const wanted = wantedRows(plan)
  if (!isShortMerge(wanted)) {
    // Rows that an unpivot has made of one have no order of their own, by which one could go on.
    yield* mayBePartial && plan.unpivots.length === 0
      ? sortInPasses(run, wanted)
      : [await orderRows(await scanLists(scanInputs(run), run, wanted), run, wanted)]
    return
  }
  const first = new FirstRows(run, wanted)
  const { pieces, others } = splitInputs(run)
  const ordered = bySortValue(pieces, plan.sort[0]!)
  const units = [...others, ...ordered.map(({ input }) => input)].map((input) => [input])
  const threshold = () => first.threshold()
  for await (const result of scanUnits(units, { run, wanted, threshold })) {
    await first.add((result as RowsResult).rows)
  }
  yield first.finish()
}

/**
 * Where not all keys of the rows fit into the query's memory, scans keep those that come first; once these have been
 * taken, all is scanned again for those that come after them, and so on.
 */
async function* sortInPasses(first: PlanRun, wanted: number): AsyncGenerator<SortedRows> {
  let run = first
  for (let left = wanted; left > 0; ) {
    const { rows, isPartial } = await sortOnce(run, left)
    const count = rows.object.length
    yield rows
    if (!isPartial) return
    left -= count
    const { split: _, plan, ...rest } = run
    const { afterSorted, longAfter } = positionAfter(plan, rows, count - 1)
    run = { ...rest, plan: { ...plan, afterSorted }, longAfter }
    run = { ...run, split: splitInputs(run) }
    run.pool.release()
    run.pool.willRead(rowsOfPieces(splitInputs(run)))
  }
}

/** As many of the first rows as fit into the query's memory. */
async function sortOnce(run: PlanRun, wanted: number): Promise<PartOfRows> {
  const { plan, pool } = run
  let parts: PartOfRows[] = []
  const units = unitsOf(scanInputs(run), plan, pool.workers)
  for await (const result of scanUnits(units, { run, wanted, mayBePartial: true })) {
    parts.push(result as RowsResult)
    const count = countRows(parts.map(({ rows }) => rows))
    const isMuch = count > maximumHeldRows || pool.heldBytes > pool.budgetBytes / 2
    // Tasks are more than threads while other queries wait, and each of them gives a thread's share.
    if (isMuch && parts.length > 1) parts = [await orderParts(parts, run, Math.ceil(count / 2))]
  }
  return orderParts(parts, run, wanted)
}

/**
 * Rows newest first, step by step; reading stops when nobody asks for more.
 *
 * @param offset rows of which the caller makes no use; made less by those that are not read, nor given
 */
async function* rowsByAge(run: PlanRun, offset: { rows: number }): AsyncGenerator<SortedRows> {
  const split = splitInputs(run)
  const pieces = split.pieces.filter(isSegmentPiece)
  const parts = split.pieces.filter((piece) => !isSegmentPiece(piece))
  // Rows of the delta, and of parts, may be updates of records of any age.
  const others = [...split.others, ...parts.map(({ input }) => input)]
  const mostFresh = wantedRows(run.plan)
  let waiting = await orderRows(await scanLists(others, run, mostFresh), run, mostFresh)
  const freshCount = waiting.object.length
  const all = clusterByAge(pieces)
  const areFirst = countNewer(waiting, all[0]?.[0]?.newest) === freshCount
  const known = skipKnown(all, areFirst ? offset.rows - freshCount : 0, run)
  offset.rows -= known.rowCount
  const wanted = mostFresh - known.rowCount
  const steps = new ScanSteps(known.clusters)
  const tasks = function* () {
    for (const step of steps) {
      yield async () => {
        const lists = await scanLists(step.inputs, run, wanted)
        steps.note(step, countRows(lists))
        return { step, lists }
      }
    }
  }
  for await (const { step, lists } of inOrder(tasks(), inFlight(run))) {
    const newer = countNewer(waiting, step.oldest ?? oldestFound(lists))
    const found = newer === 0 ? lists : [...lists, sliceSortedRows(waiting, 0, newer)]
    waiting = sliceSortedRows(waiting, newer, waiting.object.length)
    yield await orderRows(found, run, wanted)
  }
  yield waiting
}

/** Scans the inputs; each list that comes back is in the plan's order. */
async function scanLists(
  inputs: readonly TaskInput[],
  run: PlanRun,
  wanted: number,
): Promise<SortedRows[]> {
  const lists: SortedRows[] = []
  const units = unitsOf(inputs, run.plan, run.pool.workers)
  for await (const result of scanUnits(units, { run, wanted })) {
    lists.push((result as RowsResult).rows)
    checkLimit(countRows(lists), maximumHeldRows, 'rows in order', 'add a limit or a filter')
  }
  return lists
}

/** How many rows from the start of the list are not older than the key; none without a key. */
function countNewer(rows: SortedRows, key: RowKey | undefined): number {
  let count = 0
  if (!key) return count
  while (count < rows.object.length && compareRowKeys(paginationKeyAt(rows, count), key) >= 0)
    count++
  return count
}

function oldestFound([list]: readonly SortedRows[]): RowKey | undefined {
  const count = list?.object.length ?? 0
  return count === 0 ? undefined : paginationKeyAt(list!, count - 1)
}

interface UnitsScan {
  readonly run: PlanRun
  readonly wanted: number
  /** First sort keys beyond what it gives are not wanted. */
  readonly threshold?: () => SortThreshold | undefined
  readonly mayBePartial?: boolean
  readonly dictionaries?: readonly TaskDictionary[]
  readonly settling?: Settling | undefined
}

/** Has tasks take the units, and gives what each task has found in its units. */
async function* scanUnits(
  units: readonly (readonly TaskInput[])[],
  scan: UnitsScan,
): AsyncGenerator<GroupsResult | RowsResult> {
  const { pool, audit, name } = scan.run
  const count = Math.min(units.length, Math.max(1, pool.workers))
  const { inputs, share } = sharedInputs(units, count, pool.waiting)
  const { transaction } = scan.run.snapshot
  const snapshot = { transaction, unsuperseded: unsupersededOf(inputs, scan.run) }
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
  share: SharedInputs,
  snapshot: SnapshotBounds,
  { run, wanted, threshold, mayBePartial = false, dictionaries = [], settling }: UnitsScan,
): Promise<GroupsResult | RowsResult> {
  const { plan, context, traceSets, longAfter, pool, audit, cancelled } = run
  const task: ScanTask = {
    kind: 'scan',
    isProfiled: audit.isKept,
    plan,
    context,
    traceSets,
    dictionaries: dictionaries.map((each) => ({ ...each, maps: mapsOf(each, inputs) })),
    settling,
    snapshot,
    inputs,
    share,
    wanted,
    threshold: threshold?.(),
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

function scanInputs(run: PlanRun): TaskInput[] {
  const { pieces, others } = splitInputs(run)
  return [...others, ...pieces.map((piece) => piece.input)]
}

export function splitInputs(run: SplittingRun): SplitInputs {
  const { name, plan, traceSets, snapshot, split, pool, audit } = run
  if (split) return split
  const { access } = plan
  if (access.kind === 'empty' || plan.limit === 0) return { pieces: [], others: [] }
  if (access.kind === 'look_up') {
    const others = plan.objects.map(
      (object): TaskInput => ({ kind: 'records', object: object.number, ids: access.ids }),
    )
    audit.add('look_up', audit.now(), { ids: access.ids.length })
    return { pieces: [], others }
  }
  const started = audit.now()
  const { pieces, others, report, skipped }: Split = splitScan(plan, snapshot, traceSets, pool)
  for (const part of skipped) audit.profile(name).skip(part)
  if (audit.isKept) audit.add('prune', started, { ...report })
  return { pieces, others }
}

/** In which rows that the plan gives may be found. */
export function segmentsOf({
  plan,
  snapshot,
}: Pick<PlanRun, 'plan' | 'snapshot'>): readonly number[] {
  return ObjectParts.ofPlan(plan, snapshot.segments).segmentIds
}

export function rowsOfPieces({ pieces }: SplitInputs): number {
  return pieces.reduce((sum, { input }) => sum + input.to - input.from, 0)
}

export function wantedRows(plan: PhysicalPlan): number {
  return plan.limit === undefined ? Number.POSITIVE_INFINITY : plan.offset + plan.limit
}

/** Twice the workers, so that none waits for its next task. */
export function inFlight({ pool }: PlanRun): number {
  return Math.max(1, pool.workers * 2)
}
