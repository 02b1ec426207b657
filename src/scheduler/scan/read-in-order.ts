/** Gives the rows of a plan in its order while they are read, and reads no more than it takes. */
import { type SortedRows, sliceSortedRows } from '../../executor/order/row-list.ts'
import { positionAfter } from '../../executor/relation/relation-rows.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { granuleRows } from '../../vector/column.ts'
import { inOrder } from '../admission/in-flight.ts'
import { isShortMerge } from '../cost/cost.ts'
import { FoundRows } from './merge-rows.ts'
import { OrderedSources } from './ordered-sources.ts'
import { rowsOfPieces } from './piece.ts'
import { inFlight, isOfAll, type PlanRun, scanParts, splitInputs, wantedRows } from './scan-rows.ts'
import { noteSkipped, skipKnown } from './skip-known.ts'

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
  for await (const rows of readInPasses(run, offset, areLetGo)) {
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

/**
 * Where not all keys of sorted rows fit into the query's memory, scans keep those that come first; once these have been
 * taken, all is scanned again for those that come after them, and so on.
 *
 * @param offset rows of which the caller makes no use; made less by those that are not read, nor given
 */
async function* readInPasses(
  first: PlanRun,
  offset: { rows: number },
  areLetGo: boolean,
): AsyncGenerator<SortedRows> {
  let run = first
  const { sort, unpivots } = first.plan
  const most = wantedRows(first.plan)
  // Rows that an unpivot has made of one have no order of their own, by which one could go on.
  const isInOrder = sort.length > 0 && unpivots.length === 0
  const mayBePartial = areLetGo && isInOrder && !isShortMerge(most)
  for (let left = most; left > 0; ) {
    const { given, last } = yield* readInOrder(run, { wanted: left, offset, mayBePartial })
    if (!last) return
    left -= given
    const { split: _, plan, ...rest } = run
    const { afterSorted, longAfter } = positionAfter(plan, last, last.object.length - 1)
    run = { ...rest, plan: { ...plan, afterSorted }, longAfter }
    run = { ...run, split: splitInputs(run) }
    run.pool.release()
    run.pool.willRead(rowsOfPieces(splitInputs(run).pieces))
  }
}

interface Given {
  readonly given: number
  /** Rows after which some were left out; undefined: all that are wanted were given. */
  readonly last: SortedRows | undefined
}

interface ReadOptions {
  readonly wanted: number
  readonly offset: { rows: number }
  /** Whether rows that come last may be left out where all take too much memory. */
  readonly mayBePartial: boolean
}

/** Reads the best of what is left, step by step, and gives what comes before all that is left then. */
async function* readInOrder(
  run: PlanRun,
  { wanted, offset, mayBePartial }: ReadOptions,
): AsyncGenerator<SortedRows, Given> {
  const { plan, snapshot, pool, audit } = run
  const { pieces, others, found: before, skipped: skippedBefore = 0 } = splitInputs(run)
  const isSorted = plan.sort.length > 0
  const sources = pool.read((reads) => new OrderedSources(pieces, plan, reads))
  const found = new FoundRows(run, wanted, mayBePartial)
  if (before) await found.add([{ rows: before, isPartial: false }])
  offset.rows -= skippedBefore
  // What is in no column may come first: of that, an offset leaves out what is newer than all else.
  let first = others
  if (offset.rows > 0 && !isSorted && others.length > 0) {
    await found.add(await scanParts(others, { run, wanted, mayBePartial }))
    first = []
  }
  const started = audit.now()
  const known = found.areAhead(sources.bound)
    ? pool.read((reads) => skipKnown(sources, plan, offset.rows - found.count, { snapshot, reads }))
    : 0
  noteSkipped(run, started, known)
  offset.rows -= known
  const skipped = skippedBefore + known
  const scan = { run, wanted: wanted - skipped, mayBePartial }
  const pace = new ReadPace(plan, scan.wanted)
  const steps = function* () {
    for (;;) {
      // What takes too much memory is put in order once.
      const rows = mayBePartial ? Number.POSITIVE_INFINITY : pace.rows
      const taken = pool.read((reads) => sources.take(rows, reads))
      const inputs = [...first, ...taken.map(({ input }) => input)]
      if (inputs.length === 0) return
      first = []
      const { bound } = sources
      yield async () => {
        const parts = await scanParts(inputs, { ...scan, threshold: found.threshold() })
        return { read: rowsOfPieces(taken), parts, bound }
      }
    }
  }
  let given = skipped
  for await (const { read, parts, bound } of inOrder(steps(), pace.mayWait ? 1 : inFlight(run))) {
    await found.add(parts)
    if (!bound) continue
    const { rows } = await found.take(bound)
    given += rows.object.length
    pace.note(read, rows.object.length)
    yield rows
  }
  const { rows, isPartial } = await found.take(undefined)
  yield rows
  given += rows.object.length
  return { given, last: isPartial ? rows : undefined }
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
  #rows: number
  #read = 0
  #given = 0

  constructor(plan: PhysicalPlan, wanted: number) {
    this.#isSorted = plan.sort.length > 0
    const areAllWanted = isOfAll(plan)
    this.mayWait = this.#isSorted || areAllWanted
    const byAge = areAllWanted ? Math.min(wanted, givenRows) : firstRows.byAge
    this.#rows = this.#isSorted ? firstRows.sorted : byAge
  }

  get rows(): number {
    return this.#rows
  }

  note(read: number, given: number): void {
    this.#read += read
    this.#given += given
    const fitting = (givenRows * this.#read) / Math.max(1, this.#given)
    const longer = this.#isSorted ? 8 * this.#rows : Math.min(mostRows, 2 * this.#rows)
    this.#rows = Math.max(firstRows.byAge, Math.min(longer, fitting))
  }
}
