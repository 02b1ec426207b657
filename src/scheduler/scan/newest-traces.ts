/**
 * Finds the newest traces without grouping all rows. The row that stands for a trace is one of its
 * rows, so it is among the newest rows if the trace is among the newest:
 *
 * 1. The newest rows are grouped. If what stands for a trace is among them, it stands for it here, too;
 *    so conditions on it leave out only what they would leave out of all traces.
 * 2. All rows of the first of these candidates are grouped, which tells what does stand for them.
 * 3. That is the answer if as many as are wanted are newer than whatever was not looked at. If not, more
 *    rows are read, or more candidates are taken; with too many of them, all traces are grouped.
 */
import type { BoundExpression, RowChoice } from '../../binder/bound.ts'
import { mapChildren } from '../../binder/rewrite.ts'
import { assert } from '../../error.ts'
import type { SemiJoinSet } from '../../executor/expression/semi-join-set.ts'
import type { FinishResult } from '../../executor/task/task.ts'
import type { GroupsStage, PhysicalPlan, RelationStage } from '../../planner/physical-plan.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import { paginationKeyAt } from '../../vector/row-keys.ts'
import { readsCold } from './cold-scan.ts'
import { OrderedSources } from './ordered-sources.ts'
import { rowsOfRanges } from './scan-range.ts'
import { type PlanRun, type SplitInputs, splitInputs } from './scan-rows.ts'
import { traceSetOf } from './semi-join-sets.ts'

/** Rows that are read for each wanted trace, at first. */
const rowsPerTrace = 16

/** Candidates beyond the wanted ones, at first: some may turn out to be older. */
const spareCandidates = 8

/** How much more is read, or taken, when it was not enough. */
const growth = 8

/** With more candidates, all traces are grouped as fast. */
const maximumCandidates = 4096

/** The share of all rows beyond which all of them are as well grouped. */
const largestShare = 1 / 4

/** What a plan says whose traces come newest first, up to a limit. */
interface NewestTraces {
  readonly stage: GroupsStage & { readonly row: RowChoice }
  /** On the row that stands for the trace, and on its keys. */
  readonly conditions: readonly BoundExpression[]
  /** Only traces that are older. */
  readonly after: RowKey | undefined
  /** How many of the first are skipped, and how many wanted then. */
  readonly offset: number
  readonly count: number
}

/**
 * The answer of a plan whose traces come newest first, up to a limit; undefined for other plans, and
 * where all traces have to be grouped.
 *
 * @param finish runs all of a plan but the printing
 */
export async function finishNewest(
  run: PlanRun,
  finish: (run: PlanRun) => Promise<FinishResult>,
): Promise<FinishResult | undefined> {
  const newest = newestTraces(run.plan)
  if (!newest || readsCold(run)) return undefined
  const split = splitInputs(run)
  const mostRows = rowsOfRanges(split.ranges) * largestShare
  const wanted = newest.offset + newest.count
  let rowCount = wanted * rowsPerTrace
  let candidateCount = wanted + spareCandidates
  while (rowCount <= mostRows && candidateCount <= maximumCandidates) {
    const window = newestRows(split, rowCount, newest.after, run)
    const { relation } = await finish({
      ...run,
      name: `${run.name}, newest rows`,
      plan: planOfCandidates(run.plan, newest, candidateCount),
      split: window,
    })
    const areAll = relation.rowCount < candidateCount
    if (!areAll || window.end === undefined) {
      const end = areAll ? window.end : paginationKeyAt(relation.rows!, candidateCount - 1)
      const traces = traceSetOf(relation)
      // Rows without a trace are in no set.
      if (sizeOf(traces) < relation.rowCount) return undefined
      const found = await finish(runWithin(run, traces))
      if (isWhole(found, newest.count, end)) return found
      candidateCount *= growth
      rowCount *= growth
    } else {
      const missing = candidateCount / Math.max(1, relation.rowCount)
      rowCount *= Math.min(growth * growth, Math.max(2, Math.ceil(missing * 1.5)))
    }
  }
  return undefined
}

function newestTraces({ access, stage, stages }: PhysicalPlan): NewestTraces | undefined {
  if (access.kind !== 'scan' || access.order !== 'newest_traces') return undefined
  assert(stage.kind === 'groups' && stage.row !== undefined, 'no row stands for a trace')
  const limit = stages.at(-1)
  assert(limit?.kind === 'limit' && limit.count !== undefined, 'newest traces have no limit')
  const seek = stages.at(-2)
  return {
    stage: { ...stage, row: stage.row },
    conditions: stages.flatMap((each) => (each.kind === 'filter' ? each.predicates : [])),
    after: seek?.kind === 'seek' && !('values' in seek.after) ? seek.after : undefined,
    offset: limit.offset,
    count: limit.count,
  }
}

/** About so many of the newest rows, and all that have no order by age; none that are left are newer than `end`. */
function newestRows(
  split: SplitInputs,
  rowCount: number,
  after: RowKey | undefined,
  { plan, pool }: PlanRun,
): SplitInputs & { readonly end: RowKey | undefined } {
  return pool.read((reads) => {
    const sources = new OrderedSources(split.ranges, { ...plan, after }, reads)
    const ranges = sources.take(rowCount)
    const { bound } = sources
    return { ranges, others: split.others, end: bound?.kind === 'age' ? bound.newest : undefined }
  })
}

/** The traces of which rows that are read may be shown, newest first. */
function planOfCandidates(
  plan: PhysicalPlan,
  { stage, conditions, after }: NewestTraces,
  count: number,
): PhysicalPlan {
  const columns = { keys: stage.keys.length, aggregates: stage.aggregates.length }
  const predicates = conditions.flatMap((condition) => withoutAggregates(condition, columns) ?? [])
  const stages: RelationStage[] = [
    { kind: 'sort', keys: [] },
    { kind: 'limit', count, offset: 0 },
  ]
  if (predicates.length > 0) stages.unshift({ kind: 'filter', predicates })
  return { ...plan, after, stage: { ...stage, aggregates: [] }, stages }
}

/** The condition over groups that have no aggregates; undefined where it asks for one. */
function withoutAggregates(
  condition: BoundExpression,
  columns: { readonly keys: number; readonly aggregates: number },
): BoundExpression | undefined {
  let isPossible = true
  const move = (node: BoundExpression): BoundExpression => {
    // Chance does not fall twice alike.
    if (node.kind === 'field' || (node.kind === 'call' && node.name === 'random')) {
      isPossible = false
    }
    if (node.kind !== 'group_column') return mapChildren(node, move)
    if (node.index < columns.keys) return node
    const index = node.index - columns.aggregates
    if (index < columns.keys) isPossible = false
    return { ...node, index }
  }
  const moved = move(condition)
  return isPossible ? moved : undefined
}

/** The same over the rows of these traces alone. */
function runWithin({ split: _, ...run }: PlanRun, traces: SemiJoinSet): PlanRun {
  const { name, plan, semiJoinSets } = run
  const [object, trace] = (plan.stage as GroupsStage).keys
  const isCandidate: BoundExpression = {
    kind: 'in_traces',
    set: semiJoinSets.length,
    object: object!,
    trace: trace!,
    type: 'boolean',
  }
  return {
    ...run,
    name: `${name}, candidates`,
    plan: {
      ...plan,
      access: { kind: 'scan', order: 'any', by: undefined },
      predicates: [isCandidate, ...plan.predicates],
    },
    semiJoinSets: [...semiJoinSets, traces],
  }
}

/** Whether there are as many traces as are wanted, all of them newer than `end`. */
function isWhole({ relation }: FinishResult, count: number, end: RowKey | undefined): boolean {
  if (!end) return true
  const { rows, rowCount } = relation
  return rowCount === count && compareRowKeys(paginationKeyAt(rows!, rowCount - 1), end) > 0
}

function sizeOf({ traces }: SemiJoinSet): number {
  return traces.reduce((sum, { offsets }) => sum + offsets.length - 1, 0)
}
