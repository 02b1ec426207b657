/** Runs a plan that reads little in one task, so that one message goes to a worker, or none. */

import type { SortedRows } from '../../executor/column/row-list.ts'
import type { OrderBound } from '../../executor/order/order-bound.ts'
import type { RowForm } from '../../executor/print/row-form.ts'
import type { AnswerResult, AnswerTask, TaskInput } from '../../executor/task/task.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { TaskReads } from '../../storage/read/task-reads.ts'
import { inlineBytes, isInline, isOneTask, mostInlinePrinted, mostTaskRows } from '../cost/cost.ts'
import { readsCold } from '../scan/cold-scan.ts'
import { OrderedSources } from '../scan/ordered-sources.ts'
import type { ScanRange } from '../scan/scan-range.ts'
import { type PlanRun, type SplitInputs, splitInputs, wantedRows } from '../scan/scan-rows.ts'
import type { QuerySnapshot } from '../scan/snapshot.ts'
import { noteSkipped, skipKnown } from '../scan/zone-map-aggregates.ts'

/** With more wanted rows than this, several tasks had better read them. */
const mostFirst = mostInlinePrinted

/** What is printed by one task in a worker at most. */
const workerBytes = 2 ** 20

/** What one task reads of a plan: all of it, or what comes first. */
export interface FirstRead {
  readonly plan: PhysicalPlan
  readonly split: SplitInputs
  /** What is left has no row that comes before this; undefined: nothing is left. */
  readonly bound: OrderBound | undefined
  readonly left: readonly ScanRange[]
}

export interface FirstReadOptions {
  readonly snapshot: Pick<QuerySnapshot, 'transaction'>
  readonly reads: Pick<TaskReads, 'openSegment' | 'records'>
}

/**
 * Reads the best rows, where these may have the first ones of an order, if few are wanted; else all.
 *
 * @param rows about how many, of those that are wanted
 */
export function firstRead(
  plan: PhysicalPlan,
  split: SplitInputs,
  rows: (wanted: number) => number,
  { snapshot, reads }: FirstReadOptions,
): FirstRead {
  const { access, stage, stages, limit = Number.POSITIVE_INFINITY, offset } = plan
  const all = { plan, split, bound: undefined, left: [] }
  const isInOrder = access.kind === 'scan' && access.order !== 'any' && stage.kind === 'rows'
  if (!isInOrder || stages.length > 0 || limit > mostFirst || split.others.length > 0) return all
  const sources = new OrderedSources(split.ranges, plan, reads)
  const skipped = skipKnown(sources, plan, offset, { snapshot, reads })
  const wanted = offset - skipped + limit
  if (wanted > mostFirst) return all
  const ranges = sources.take(rows(wanted))
  return {
    plan: skipped === 0 ? plan : { ...plan, offset: offset - skipped },
    split: { ...split, ranges, skipped },
    bound: sources.bound,
    left: sources.ranges,
  }
}

/** What is left to do where others may come before the rows that were found. */
export function splitAfter({ split, left }: FirstRead, found: SortedRows): SplitInputs {
  return { ...split, ranges: left, found }
}

/** What a worker is to read of a plan in one task, if that is all or may do. */
export function readOfTask(run: PlanRun): FirstRead | undefined {
  const { plan, pool, snapshot, audit } = run
  const split = splitInputs(run)
  if (split.found || readsCold(run)) return undefined
  const started = audit.now()
  const read = pool.read((reads) => firstRead(plan, split, () => mostTaskRows, { snapshot, reads }))
  if (!isOneTask(plan, inputsOf(read.split))) return undefined
  noteSkipped(run, started, read.split.skipped ?? 0)
  return read
}

export function answerAtOnce(run: PlanRun, read: FirstRead, form: RowForm): Promise<AnswerResult> {
  const { pool, audit, cancelled } = run
  const isHere = pool.read((reads) => isInline(read.plan, inputsOf(read.split), reads))
  const task = answerTask(run, read, form, {
    isProfiled: audit.isKept,
    budgetBytes: pool.budgetBytes,
    printedBytes: isHere ? inlineBytes : workerBytes,
    cancelled,
  })
  return pool.run(task, isHere)
}

type AnswerOptions = Pick<AnswerTask, 'printedBytes'> &
  Pick<AnswerTask['scan'], 'isProfiled' | 'budgetBytes' | 'cancelled'>

/** The task that does it all. */
export function answerTask(
  { context, semiJoinSets, snapshot }: Pick<PlanRun, 'context' | 'semiJoinSets' | 'snapshot'>,
  { plan, split, bound }: FirstRead,
  form: RowForm,
  { printedBytes, isProfiled, budgetBytes, cancelled }: AnswerOptions,
): AnswerTask {
  return {
    kind: 'answer',
    scan: {
      kind: 'scan',
      plan,
      context,
      semiJoinSets,
      dictionaries: [],
      localGrouping: undefined,
      snapshot: { transaction: snapshot.transaction },
      inputs: inputsOf(split),
      share: undefined,
      wanted: wantedRows(plan),
      threshold: undefined,
      mayBePartial: false,
      isProfiled,
      budgetBytes,
      cancelled,
    },
    known: split.known,
    bound,
    form,
    printedBytes,
  }
}

export function inputsOf({ ranges, others }: SplitInputs): TaskInput[] {
  return [...others, ...ranges.map(({ input }) => input)]
}
