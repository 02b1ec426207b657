import { beginBatch, beginStates, endBatches, newCodes } from '../kernel/memory.ts'
import { countStored } from '../kernel/narrow-mask.ts'
import { selectTrue, selectTrueWithin } from '../kernel/select.ts'
import { PlanProfile } from '../planner/plan-profile.ts'
import type { ColumnSet } from '../vector/column.ts'
import { rowsOf, type Selection } from '../vector/vector.ts'
import type { Batch } from './expression/batch.ts'
import { type TaskContext, withTraceSets } from './expression/trace-set.ts'
import { compileFilter, type RowsWithin, selectedCount } from './filter/filter.ts'
import { GroupSink } from './group/group-sink.ts'
import { settle } from './group/settled-groups.ts'
import { RowSink } from './order/row-sink.ts'
import { RelationReader } from './relation/relation-batch.ts'
import { segmentsOf } from './relation/row-columns.ts'
import { countOf } from './scan/counted-rows.ts'
import { GranuleFilters, newestFirst, type RunPart } from './scan/granules.ts'
import { OpenedColumns, openRun, type RowRun, type TaskStorage } from './scan/row-run.ts'
import { compileUnpivots, type SelectedBatch } from './scan/unpivot-batch.ts'
import { takeInputs } from './task/shared-inputs.ts'
import type { GroupsResult, RowsResult, ScanMetrics, ScanTask, TaskInput } from './task/task.ts'
import { TaskDictionaries } from './task/task-dictionaries.ts'
import { TaskProfile } from './task/task-profile.ts'
import {
  compileCandidates,
  type FindCandidates,
  type TextCandidates,
} from './text/text-candidates.ts'
import { checkCancelled } from './thread/cancelled.ts'
import { overBudget } from './thread/memory-limit.ts'

/** Takes the rows that pass the filter. */
export interface Sink {
  add(run: RowRun, batch: Batch, selection: Selection): void
  /** Instead of `add`, where all that it wants to know of rows is how many there are. */
  addCount?: ((rows: number) => void) | undefined
  /** Instead of `add`, of a batch whose rows have no weights: those that are 1 in a mask, so many. */
  addMasked?: ((batch: Batch, mask: Uint8Array, count: number) => void) | undefined
  /**
   * Instead of `addMasked`, those in a range of one field, where it wants nothing but that field. Returns how many they are;
   * undefined: nothing was added.
   */
  addWithin?: ((batch: Batch, rows: RowsWithin) => number | undefined) | undefined
  /**
   * The parts of a run in the order in which this sink wants them; it tells `skipped` of those that
   * cannot matter by what is known when their turn comes. Without it: all, the newest first.
   */
  parts?(run: RowRun, skipped: PlanProfile): Iterable<RunPart>
  /** Whether later parts of this run cannot matter. */
  isDone(run: RowRun): boolean
  /** Of a task whose result may be partial: leaves out half of the rows; false when it can leave out none. */
  halve?(): boolean
  /** About as many bytes as it holds. */
  readonly heldBytes: number
  /** Groups or rows that it would give if it ended. */
  readonly resultCount: number
  finish(metrics: ScanMetrics): GroupsResult | RowsResult
}

/** What was found, as it was collected: valid until the thread's next scan begins. */
export interface Scanned {
  readonly sink: GroupSink | RowSink
  readonly evaluation: TaskContext
  readonly profile: TaskProfile | undefined
  /** Without operators. */
  readonly metrics: ScanMetrics
}

/** Scans, and makes plain data of what was found. */
export function runScan(task: ScanTask, storage: TaskStorage): GroupsResult | RowsResult {
  const scanned = scan(task, storage)
  const { sink, evaluation, profile, metrics } = scanned
  if (!task.settling || !(sink instanceof GroupSink)) return resultOf(scanned)
  const { plan } = task
  const segments = segmentsOf(task.inputs)
  const { open, settled } = settle(sink, task.settling, plan, {
    evaluation,
    profile,
    read: (relation) => new RelationReader(relation, plan, { segments, storage }),
  })
  if (!profile) return { ...open, settled, metrics }
  profile.mark('sink', 0, open.groupCount)
  return { ...open, settled, metrics: { ...metrics, operators: profile.operators } }
}

/** All of it as plain data. */
export function resultOf({ sink, profile, metrics }: Scanned): GroupsResult | RowsResult {
  const result = sink.finish(metrics)
  if (!profile) return result
  profile.mark('sink', 0, result.kind === 'groups' ? result.groupCount : result.rows.object.length)
  return { ...result, metrics: { ...metrics, operators: profile.operators } }
}

/** Reads the task's inputs batch by batch, filters them, and aggregates or keeps what is left. */
export function scan(task: ScanTask, storage: TaskStorage): Scanned {
  const started = performance.now()
  const { plan } = task
  const context = withTraceSets(task.context, task.traceSets)
  const profile = task.isProfiled ? new TaskProfile(plan) : undefined
  const filters = new GranuleFilters(plan.predicates, (asked) =>
    profile
      ? profile.filter(plan.predicates, asked, context)
      : compileFilter(
          plan.predicates.filter((_, i) => asked[i] === true),
          context,
        ),
  )
  const findCandidates = mayHaveIndex(task.inputs)
    ? perSet(compileCandidates(plan.predicates, context))
    : undefined
  const isUnpivoted = plan.unpivots.length > 0
  const unpivots = isUnpivoted ? compileUnpivots(plan, context) : undefined
  const dictionaries = new TaskDictionaries(task.dictionaries)
  beginStates()
  const sink: Sink & (GroupSink | RowSink) =
    plan.stage.kind === 'groups'
      ? new GroupSink(plan.stage, context, dictionaries)
      : new RowSink(task, context)
  const taskBudget = task.budgetBytes / (task.share?.tasks ?? 1)
  // A part is then surely one that the query may hold, as numbers and bytes.
  const partBudget = taskBudget / 2
  const opened = new OpenedColumns()
  const take = (run: RowRun, { batch, selection }: SelectedBatch): void => {
    const rows = weighedCount(batch, selection)
    if (isUnpivoted) profile?.mark('unpivot', 0, rows)
    sink.add(run, batch, selection)
    while (task.mayBePartial && sink.heldBytes > partBudget) if (!sink.halve?.()) break
    if (sink.heldBytes > taskBudget) throw overBudget(task.budgetBytes)
    profile?.mark('sink', rows, 0)
  }
  const isFull = () => {
    return (
      task.settling !== undefined && sink instanceof GroupSink && sink.resultCount >= manyGroups
    )
  }
  let lastRun: RowRun | undefined
  let rowsTaken = 0
  let rowsRead = 0
  let rowsMatched = 0
  const skipped = new PlanProfile()
  let bytesRead = 0
  const addCount = isUnpivoted ? undefined : sink.addCount
  const addMasked = isUnpivoted ? undefined : sink.addMasked
  const addWithin = isUnpivoted ? undefined : sink.addWithin
  const mayAddRuns = !profile && (addCount ?? addWithin) !== undefined
  /**
   * Adds all rows of a run at once, where a column tells which pass: by batches it takes 2 µs for each, besides the loops.
   * Returns how many they are; undefined: nothing was added.
   */
  const addRun = (run: RowRun): number | undefined => {
    if (!run.columns || run.visible) return undefined
    beginBatch()
    const batch = run.batch(0, run.rowCount)
    const within = filters.whole.within?.(batch)
    if (!within) return undefined
    if (!addCount) return addWithin!(batch, within)
    const count = countStored(within.stored, within.range)
    addCount(count)
    return count
  }
  const mayGiveWay = () => {
    const turnMs = Math.min(longestTurnMs, sink.resultCount / resultsPerMs)
    return performance.now() - started >= turnMs
  }
  for (const input of takeInputs(task.inputs, task.share, isFull, mayGiveWay)) {
    const run = openRun(input, plan, task.snapshot, storage, dictionaries, opened)
    rowsTaken += run.rowCount
    profile?.open(run)
    let candidatesOf = () => run.columns && findCandidates?.(run.columns)
    const found = addCount && candidatesOf()
    const counted = found && countOf(run, found)
    if (counted) {
      addCount?.(counted.rows)
      rowsRead += counted.rows
      rowsMatched += counted.rows
      profile?.mark('text index', run.rowCount, counted.rows)
      if (!profile && counted.areAll) {
        checkCancelled()
        continue
      }
      candidatesOf = () => counted.others
    }
    const added = mayAddRuns && !candidatesOf() ? addRun(run) : undefined
    if (added !== undefined) {
      rowsRead += run.rowCount
      rowsMatched += added
      bytesRead += run.bytesRead()
      checkCancelled()
      continue
    }
    for (const part of sink.parts?.(run, skipped) ?? newestFirst(run)) {
      if (sink.isDone(run)) break
      checkCancelled()
      // Not found out for a run of which no part matters.
      const candidates = candidatesOf()
      beginBatch()
      const { from: start, to: end } = part
      const [first, last] = [run.firstRow + start, run.firstRow + end]
      const passing = candidates?.between(first, last)
      const candidateCount = passing ? passing.length : end - start
      rowsRead += candidateCount
      const readCount = candidateCount + (counted?.sure.countBetween(first, last) ?? 0)
      if (readCount < end - start) {
        const rows = end - start - readCount
        skipped.skip({ by: 'text index', segments: 0, granules: +(readCount === 0), rows })
      }
      if (candidateCount === 0) continue
      const batch = run.batch(start, end - start)
      const visible = visibleSelection(run, start, end, passing)
      profile?.mark('scan', candidateCount, selectedCount(visible, end - start))
      const filter = filters.of(run, part, candidates)
      if (addCount) {
        const matched = filter.count(batch, visible)
        rowsMatched += matched
        addCount(matched)
        profile?.mark('sink', matched, 0)
        continue
      }
      const mayBeMasked = addMasked && !visible && !batch.weights
      const kept = mayBeMasked ? filter.keepMasked?.(batch) : undefined
      if (kept?.mask) {
        rowsMatched += kept.count
        addMasked!(batch, kept.mask, kept.count)
        continue
      }
      const selection = kept ? kept.selection : filter.keep(batch, visible)
      const matched = selectedCount(selection, end - start)
      rowsMatched += matched
      if (matched === 0) continue
      if (!unpivots) {
        take(run, { batch, selection })
        continue
      }
      for (const made of unpivots.of(batch, selection)) {
        if (sink.isDone(run)) break
        take(run, made)
      }
      lastRun = run
      profile?.mark('unpivot', matched, 0)
    }
    bytesRead += run.bytesRead()
  }
  if (lastRun && unpivots) for (const made of unpivots.rest()) take(lastRun, made)
  endBatches()
  const milliseconds = performance.now() - started
  const metrics = {
    rowsTaken,
    rowsRead,
    rowsMatched,
    skipped: skipped.skipped,
    bytesRead: Math.round(bytesRead),
    milliseconds,
  }
  return { sink, evaluation: context, profile, metrics }
}

/**
 * Groups after which a task that settles them ends: what is left of them is little, while the states of many more
 * would leave the memory of the loops, which the next task begins with empty.
 */
const manyGroups = 65_536

/**
 * While others wait, a task goes on for about as long as it takes to send what it has found and to put that together
 * with what others of its query have: eight scans at once, each with 200,000 groups, took three times as long when they
 * gave way after each segment. No longer, so that short queries wait for no more than this.
 */
const [longestTurnMs, resultsPerMs] = [100, 1000]

/** Rows that are read sooner than an index is asked which of them may pass. */
const fewRows = 128

/** Whether an index may be worth asking. Records that are looked up one by one have none. */
function mayHaveIndex(inputs: readonly TaskInput[]): boolean {
  let rows = 0
  for (const input of inputs) {
    if (input.kind === 'segment' || input.kind === 'part') rows += input.to - input.from
    else if (input.kind !== 'records') return true
    if (rows > fewRows) return true
  }
  return false
}

/** Looks into the indexes of a set once, though several inputs that follow each other are of it. */
function perSet(find: FindCandidates | undefined): FindCandidates | undefined {
  if (!find) return undefined
  let last: ColumnSet | undefined
  let found: TextCandidates | undefined
  return (set) => {
    if (set !== last) found = find(set)
    last = set
    return found
  }
}

/** How many rows the selected ones stand for. */
function weighedCount({ rowCount, weights }: Batch, selection: Selection): number {
  if (!weights) return selectedCount(selection, rowCount)
  return rowsOf(selection, rowCount).reduce((sum, row) => sum + weights[row]!, 0)
}

/** The visible rows among the candidates. */
function visibleSelection(
  { visible }: RowRun,
  start: number,
  end: number,
  candidates: Selection,
): Selection {
  if (!visible) return candidates
  const selection = newCodes(end - start)
  if (candidates) {
    const seen = visible.subarray(start, end)
    const count = selectTrueWithin(seen, candidates, selection)
    return selection.subarray(0, count)
  }
  const count = selectTrue(visible.subarray(start, end), end - start, selection)
  return count === end - start ? undefined : selection.subarray(0, count)
}
