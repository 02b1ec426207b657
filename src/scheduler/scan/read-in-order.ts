/** Gives the rows of a plan in its order while they are read, and reads no more than it takes. */
import type { ColdSlice } from '../../clickhouse/read/compiled-scan.ts'
import { type SortedRows, sliceSortedRows } from '../../executor/column/row-list.ts'
import { positionAfter } from '../../executor/relation/relation-rows.ts'
import type { TaskInput } from '../../executor/task/task.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { granuleRows } from '../../vector/column.ts'
import { inOrder } from '../admission/in-flight.ts'
import { isShortMerge } from '../cost/cost.ts'
import { readsCold } from './cold-scan.ts'
import { boundAfter, coldSlices, earlierBound } from './cold-slices.ts'
import { FoundRows } from './merge-rows.ts'
import { OrderedSources } from './ordered-sources.ts'
import { rowsOfRanges } from './scan-range.ts'
import {
  inFlight,
  isOfAll,
  type PlanRun,
  scanColdParts,
  scanParts,
  splitInputs,
} from './scan-rows.ts'
import { noteSkipped, skipKnown } from './zone-map-aggregates.ts'

export interface ScanRowsOptions {
  /** Whether rows are let go of before more are asked for: so many may come that not all fit into memory. */
  readonly areLetGo?: boolean
  /** Is called when scans that were begun ahead need not end. */
  readonly onEnough?: () => void
}

/**
 * The rows of the plan's order, from its offset to its limit, as soon as they come before all that is not read yet.
 *
 * Where not all keys of sorted rows fit into the query's memory, scans keep those that come first; once these have been
 * taken, all is scanned again for those that come after them, and so on.
 */
export async function* scanRows(
  given: PlanRun,
  { areLetGo = false, onEnough }: ScanRowsOptions = {},
): AsyncGenerator<SortedRows> {
  const { sort, unpivots, access } = given.plan
  if (access.kind === 'empty') return
  const window = new RowWindow(given.plan, onEnough)
  // Rows that an unpivot has made of one have no order of their own, by which one could go on.
  const isInOrder = sort.length > 0 && unpivots.length === 0
  const mayBePartial = areLetGo && isInOrder && !isShortMerge(window.wanted)
  for (let run = given; window.limit > 0; ) {
    const last = yield* readInOrder(run, window, mayBePartial)
    if (!last) break
    const { split: _, plan, ...rest } = run
    const { afterSorted, longAfter } = positionAfter(plan, last, last.object.length - 1)
    run = { ...rest, plan: { ...plan, afterSorted }, longAfter }
    run = { ...run, split: splitInputs(run) }
    run.pool.release()
    run.pool.willRead(rowsOfRanges(splitInputs(run).ranges))
  }
}

/** What is left to be given of an order: so many rows after as many others. */
class RowWindow {
  offset: number
  limit: number
  readonly #onEnough: ScanRowsOptions['onEnough']

  constructor(
    { offset, limit = Number.POSITIVE_INFINITY }: PhysicalPlan,
    onEnough: ScanRowsOptions['onEnough'],
  ) {
    this.offset = offset
    this.limit = limit
    this.#onEnough = onEnough
  }

  get wanted(): number {
    return this.offset + this.limit
  }

  /** Gives those of the next rows that are in it. */
  *give(rows: SortedRows): Generator<SortedRows> {
    const from = Math.min(this.offset, rows.object.length)
    const to = Math.min(rows.object.length, from + this.limit)
    this.offset -= from
    this.limit -= to - from
    if (to > from) yield sliceSortedRows(rows, from, to)
    if (this.limit === 0) this.#onEnough?.()
  }
}

/**
 * Reads the best of what is left, step by step, and gives what comes before all that is left then.
 *
 * @param mayBePartial whether rows that come last may be left out where all take too much memory
 * @returns rows after the last of which some were left out; undefined: all that are wanted were given
 */
async function* readInOrder(
  run: PlanRun,
  window: RowWindow,
  mayBePartial: boolean,
): AsyncGenerator<SortedRows, SortedRows | undefined> {
  const { plan, pool } = run
  const { ranges, others, found: before, skipped = 0 } = splitInputs(run)
  window.offset -= skipped
  const sources = pool.read((reads) => new OrderedSources(ranges, plan, reads))
  const found = new FoundRows(run, window.wanted, mayBePartial)
  const read = async (inputs: readonly TaskInput[]) => {
    const scan = { run, wanted: window.wanted, mayBePartial, threshold: found.threshold() }
    for await (const part of scanParts(inputs, scan)) await found.add(part)
  }
  if (before) await found.add({ rows: before, isPartial: false })
  let first = others
  const isCold = readsCold(run)
  const slices = isCold ? [...(await coldSlices(run))] : []
  const readCold = async (slice: ColdSlice) => {
    const scan = { run, wanted: window.wanted, mayBePartial }
    for await (const part of scanColdParts(scan, slice)) await found.add(part)
  }
  if (window.offset > 0 && plan.sort.length === 0 && !isCold) {
    // What is in no column may be of any age.
    await read(others)
    first = []
    window.offset -= skipUnread(run, sources, found, window.offset)
  }
  const pace = new ReadPace(plan, window.wanted)
  // What takes too much memory is put in order once.
  if (mayBePartial) pace.rows = Number.POSITIVE_INFINITY
  else if (before) pace.note(0, 0)
  const steps = function* () {
    for (;;) {
      const [taken, bound] = pool.read(() => [sources.take(pace.rows), sources.bound] as const)
      const inputs = [...first, ...taken.map(({ input }) => input)]
      const slice = slices.shift()
      if (inputs.length === 0 && !slice) return
      first = []
      const left = slice ? earlierBound(bound, boundAfter(slice)) : bound
      yield async () => {
        if (slice) await readCold(slice)
        if (inputs.length > 0) await read(inputs)
        return { rowsRead: rowsOfRanges(taken), bound: left }
      }
    }
  }
  // What the cluster is asked for ahead would be in vain once enough is found.
  const atOnce = isCold || pace.mayWait ? 1 : inFlight(run)
  for await (const { rowsRead, bound } of inOrder(steps(), atOnce)) {
    if (!bound) continue
    const { rows } = await found.take(bound)
    pace.note(rowsRead, rows.object.length)
    yield* window.give(rows)
    if (window.limit === 0) return undefined
  }
  const { rows, isPartial } = await found.take(undefined)
  yield* window.give(rows)
  return isPartial ? rows : undefined
}

/** Takes out rows that an offset leaves out, if all that were found come before them; returns how many. */
function skipUnread(
  run: PlanRun,
  sources: OrderedSources,
  found: FoundRows,
  offset: number,
): number {
  const { name, plan, snapshot, pool, audit } = run
  const started = audit.now()
  const skipped = pool.read((reads) => {
    const atMost = found.areAhead(sources.bound) ? offset - found.count : 0
    return skipKnown(sources, plan, atMost, { snapshot, reads })
  })
  noteSkipped({ name, audit }, started, skipped)
  return skipped
}

/** How many rows are read in a step: at first, and at most. */
const firstRows = { byAge: granuleRows, sorted: 8 * granuleRows }
const mostRows = 32 * granuleRows

/** What a step should give: keys of rows take 28 bytes each, and some steps are read ahead. */
const givenRows = 32_768

/** Short steps at first, so that the first rows leave soon; longer ones where these have given few. */
class ReadPace {
  readonly #isSorted: boolean
  /** Whether few steps are to be expected, or what one finds rules out much of the next. */
  readonly mayWait: boolean
  rows: number
  #read = 0
  #given = 0

  constructor(plan: PhysicalPlan, wanted: number) {
    this.#isSorted = plan.sort.length > 0
    const areAllWanted = isOfAll(plan)
    this.mayWait = this.#isSorted || areAllWanted
    const byAge = areAllWanted ? Math.min(wanted, givenRows) : firstRows.byAge
    this.rows = this.#isSorted ? firstRows.sorted : byAge
  }

  note(read: number, given: number): void {
    this.#read += read
    this.#given += given
    const longer = this.#isSorted ? 8 * this.rows : Math.min(mostRows, 2 * this.rows)
    // Whole rows: a step that ended within one would leave it out, or what is left be taken in ever smaller parts.
    const fitting = given === 0 ? longer : Math.ceil((givenRows * this.#read) / this.#given)
    this.rows = Math.max(firstRows.byAge, Math.min(longer, fitting))
  }
}
