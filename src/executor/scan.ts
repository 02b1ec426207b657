import { beginBatch, beginStates, endBatches, newCodes } from '../kernel/arena.ts'
import { selectTrue, selectTrueWithin } from '../kernel/select.ts'
import { PlanProfile } from '../planner/plan-profile.ts'
import type { ColumnSet } from '../vector/column.ts'
import { rowsOf, type Selection } from '../vector/vector.ts'
import type { Batch } from './expression/batch.ts'
import { type TaskContext, withSemiJoinSets } from './expression/semi-join-set.ts'
import { compileFilter } from './filter/filter.ts'
import {
  asSelection,
  type FilteredRows,
  type RowCount,
  selectedCount,
} from './filter/filtered-rows.ts'
import { GroupSink } from './group/group-sink.ts'
import { finishLocalGroups } from './group/local-groups.ts'
import { RowSink } from './order/row-sink.ts'
import { RelationReader } from './relation/relation-batch.ts'
import { segmentsOf } from './relation/row-columns.ts'
import { type CountedRows, countOf } from './scan/counted-rows.ts'
import { type BatchRange, GranuleFilters } from './scan/granules.ts'
import { OpenedColumns, openRun, type RowRun, type TaskStorage } from './scan/row-run.ts'
import type { Sink } from './scan/sink.ts'
import { compileUnpivots, type SelectedBatch, type Unpivots } from './scan/unpivot-batch.ts'
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
  if (!task.localGrouping || !(sink instanceof GroupSink)) return resultOf(scanned)
  const { plan } = task
  const segments = segmentsOf(task.inputs)
  const { open, local } = finishLocalGroups(sink, task.localGrouping, plan, {
    evaluation,
    profile,
    read: (relation) => new RelationReader(relation, plan, { segments, storage }),
  })
  if (!profile) return { ...open, local, metrics }
  profile.mark('sink', 0, open.groupCount)
  return { ...open, local, metrics: { ...metrics, operators: profile.operators } }
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
  beginStates()
  const scan = new Scan(task)
  const { plan, localGrouping } = task
  const { sink, dictionaries } = scan
  const opened = new OpenedColumns()
  const isFull = () => {
    return (
      localGrouping !== undefined && sink instanceof GroupSink && sink.resultCount >= manyGroups
    )
  }
  const mayGiveWay = () => {
    const turnMs = Math.min(longestTurnMs, sink.resultCount / resultsPerMs)
    return performance.now() - started >= turnMs
  }
  for (const input of takeInputs(task.inputs, task.share, isFull, mayGiveWay)) {
    scan.read(openRun(input, plan, task.snapshot, storage, dictionaries, opened))
  }
  scan.end()
  endBatches()
  return scan.found(performance.now() - started)
}

class Scan {
  readonly dictionaries: TaskDictionaries
  readonly sink: Sink & (GroupSink | RowSink)
  readonly #task: ScanTask
  readonly #context: TaskContext
  readonly #profile: TaskProfile | undefined
  readonly #filters: GranuleFilters
  readonly #findCandidates: FindCandidates | undefined
  readonly #unpivots: Unpivots | undefined
  readonly #taskBudget: number
  readonly #skipped = new PlanProfile()
  readonly #read = { rowsTaken: 0, rowsRead: 0, rowsMatched: 0, bytesRead: 0 }
  #lastRun: RowRun | undefined

  constructor(task: ScanTask) {
    const { plan } = task
    const context = withSemiJoinSets(task.context, task.semiJoinSets)
    const profile = task.isProfiled ? new TaskProfile(plan) : undefined
    this.#task = task
    this.#context = context
    this.#profile = profile
    this.#filters = new GranuleFilters(plan.predicates, (asked) => {
      if (profile) return profile.filter(plan.predicates, asked, context)
      return compileFilter(
        plan.predicates.filter((_, i) => asked[i] === true),
        context,
      )
    })
    const isIndexed = mayHaveIndex(task.inputs)
    this.#findCandidates = isIndexed
      ? perSet(compileCandidates(plan.predicates, context))
      : undefined
    this.#unpivots = plan.unpivots.length > 0 ? compileUnpivots(plan, context) : undefined
    this.dictionaries = new TaskDictionaries(task.dictionaries)
    this.sink =
      plan.stage.kind === 'groups'
        ? new GroupSink(plan.stage, context, this.dictionaries)
        : new RowSink(task, context)
    this.#taskBudget = task.budgetBytes / (task.share?.tasks ?? 1)
  }

  read(run: RowRun): void {
    this.#profile?.open(run)
    this.#read.rowsTaken += run.rowCount
    const counted = this.#addCounted(run)
    if (counted?.areAll || (!counted && this.#addTold(run))) checkCancelled()
    else this.#readBatches(run, counted)
    this.#read.bytesRead += run.bytesRead()
  }

  /** What unpivots have still held back. */
  end(): void {
    if (!this.#lastRun) return
    for (const made of this.#unpivots?.rest() ?? []) this.#addMade(this.#lastRun, made)
  }

  found(milliseconds: number): Scanned {
    const bytesRead = Math.round(this.#read.bytesRead)
    const { skipped } = this.#skipped
    return {
      sink: this.sink,
      evaluation: this.#context,
      profile: this.#profile,
      metrics: { ...this.#read, bytesRead, skipped, milliseconds },
    }
  }

  #candidatesOf(run: RowRun): TextCandidates | undefined {
    return run.columns && this.#findCandidates?.(run.columns)
  }

  /** Adds rows of which an index of texts tells that they pass, where all that is asked is how many they are. */
  #addCounted(run: RowRun): CountedRows | undefined {
    if (!this.#findCandidates || this.#unpivots) return undefined
    const all = run.batch(0, run.rowCount)
    const candidates = this.sink.takes(all, undefined) ? this.#candidatesOf(run) : undefined
    const counted = candidates && countOf(run, candidates)
    if (!counted) return undefined
    this.#add(run, all, { kind: 'count', count: counted.rows })
    this.#read.rowsRead += counted.rows
    this.#profile?.mark('text index', run.rowCount, counted.rows)
    // Who is told what was left out has its parts gone through.
    return { ...counted, areAll: counted.areAll && !this.#profile }
  }

  /** Adds all rows of a run at once, where a column tells which pass: by batches it takes 2 µs for each, besides the kernels. */
  #addTold(run: RowRun): boolean {
    const { teller } = this.#filters.whole
    if (!teller || this.#profile || this.#unpivots || !run.columns) return false
    beginBatch()
    const all = run.batch(0, run.rowCount)
    if (!this.sink.takes(all, teller.isRange ? all.field(teller.path) : undefined)) return false
    if (run.visible || this.#candidatesOf(run)) return false
    const told = teller.told(all)
    if (!told) return false
    this.#add(run, all, told)
    this.#read.rowsRead += run.rowCount
    return true
  }

  #readBatches(run: RowRun, counted: CountedRows | undefined): void {
    const { sink } = this
    for (const range of sink.batches(run, this.#skipped)) {
      if (sink.isDone(run)) break
      checkCancelled()
      beginBatch()
      // Not found out for a run of which no range matters.
      const candidates = counted ? counted.others : this.#candidatesOf(run)
      const passing = candidates?.between(run.firstRow + range.from, run.firstRow + range.to)
      this.#noteRead(run, range, passing, counted)
      if (passing?.length === 0) continue
      const rowCount = range.to - range.from
      const batch = run.batch(range.from, rowCount)
      const visible = visibleSelection(run, range, passing)
      this.#profile?.mark(
        'scan',
        selectedCount(passing, rowCount),
        selectedCount(visible, rowCount),
      )
      const kept = this.#filters.of(run, range, candidates).select(batch, visible)
      if (this.#unpivots) this.#addUnpivoted(run, batch, asSelection(kept, rowCount))
      else this.#add(run, batch, kept)
    }
  }

  #noteRead(
    { firstRow }: RowRun,
    { from, to }: BatchRange,
    passing: Selection,
    counted: CountedRows | undefined,
  ): void {
    const read = selectedCount(passing, to - from)
    this.#read.rowsRead += read
    const told = counted?.sure.countBetween(firstRow + from, firstRow + to) ?? 0
    const rows = to - from - read - told
    if (rows === 0) return
    const granules = +(read + told === 0)
    this.#skipped.skip({ by: 'text index', segments: 0, granules, rows })
  }

  #addUnpivoted(run: RowRun, batch: Batch, selection: Selection): void {
    const matched = selectedCount(selection, batch.rowCount)
    this.#read.rowsMatched += matched
    if (matched === 0) return
    for (const made of this.#unpivots!.of(batch, selection)) {
      if (this.sink.isDone(run)) break
      this.#addMade(run, made)
    }
    this.#lastRun = run
    this.#profile?.mark('unpivot', matched, 0)
  }

  #addMade(run: RowRun, { batch, selection }: SelectedBatch): void {
    const rows = weighedCount(batch, selection)
    this.#profile?.mark('unpivot', 0, rows)
    this.sink.add(run, batch, { kind: 'rows', rows: selection })
    this.#holdBudget()
    this.#profile?.mark('sink', rows, 0)
  }

  #add(run: RowRun, batch: Batch, kept: FilteredRows | RowCount): void {
    const rows = this.sink.add(run, batch, kept)
    this.#read.rowsMatched += rows
    this.#holdBudget()
    this.#profile?.mark('sink', rows, 0)
  }

  #holdBudget(): void {
    const { sink } = this
    const { mayBePartial, budgetBytes } = this.#task
    // A part is then surely one that the query may hold, as numbers and bytes.
    while (mayBePartial && sink.heldBytes > this.#taskBudget / 2) if (!sink.halve()) break
    if (sink.heldBytes > this.#taskBudget) throw overBudget(budgetBytes)
  }
}

/**
 * Groups after which a task that finishes them ends: what is left of them is little, while the states of many more
 * would leave the kernel arena, which the next task begins with empty.
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
    if (input.kind === 'segment' || input.kind === 'memtable') rows += input.to - input.from
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
  { from, to }: BatchRange,
  candidates: Selection,
): Selection {
  if (!visible) return candidates
  const selection = newCodes(to - from)
  const seen = visible.subarray(from, to)
  if (candidates) {
    const count = selectTrueWithin(seen, candidates, selection)
    return selection.subarray(0, count)
  }
  const count = selectTrue(seen, to - from, selection)
  return count === to - from ? undefined : selection.subarray(0, count)
}
