/** Splits a scan into ranges that tasks are made of, after leaving out what cannot match. */

import { type BoundExpression, childrenOf } from '../../binder/bound.ts'
import type { SemiJoinSet } from '../../executor/expression/semi-join-set.ts'
import { thresholdOf } from '../../executor/order/row-buffer.ts'
import { mayFollow, pruneRows } from '../../executor/scan/prune.ts'
import { Zones } from '../../executor/scan/zones.ts'
import type { TaskInput } from '../../executor/task/task.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { SkippedRange } from '../../planner/plan-profile.ts'
import { fromPlain } from '../../type/plain.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import { granuleRows } from '../../vector/column.ts'
import { KeyCandidates, type KeyFinder, narrowRanges } from './key-candidates.ts'
import { type ObjectSegment, ObjectSegments } from './object-segments.ts'
import type { MemtableRange, ScanRange, SegmentRange } from './scan-range.ts'
import { SkippedRows } from './skipped-rows.ts'
import type { QuerySnapshot } from './snapshot.ts'

export interface PruningReport {
  /** Memtables and log ranges that are read. */
  readonly fresh: number
  /** Segments that hold rows of the objects. */
  readonly segments: number
  readonly segmentsRead: number
  readonly rows: number
  readonly rowsRead: number
  /** Rows that were left out, by what left them out. */
  readonly skipped: Readonly<Record<string, number>>
}

export interface Split {
  /** Those of memtables before those of segments. */
  readonly ranges: readonly ScanRange[]
  /** What is read from the row store: rows that are in no memtable yet, and histories. */
  readonly others: readonly TaskInput[]
  readonly report: PruningReport
  /** What was left out, by what ruled it out. */
  readonly skipped: readonly SkippedRange[]
}

/** @param semiJoinSets the sets of traces that were found for the plan; none before it is run */
export function splitScan(
  plan: PhysicalPlan,
  snapshot: QuerySnapshot,
  semiJoinSets: readonly SemiJoinSet[],
  finder: KeyFinder,
): Split {
  const objects = new Set(plan.objects.map((object) => object.number))
  const passedBy = placePassed(plan)
  const candidates = new KeyCandidates(plan.predicates, semiJoinSets, finder)
  const skipped = new SkippedRows(plan.predicates)
  const report = { segments: 0, segmentsRead: 0, rows: 0, rowsRead: 0 }
  const histories = plan.objects.filter(({ isHistory }) => isHistory)
  if (histories.length > 0) {
    const others = histories.flatMap(({ number }) =>
      snapshot.history(number).map(
        (range): TaskInput => ({
          kind: 'history',
          object: number,
          ...range,
        }),
      ),
    )
    const nothing = { ...report, fresh: others.length, skipped: {} }
    return { ranges: [], others, report: nothing, skipped: [] }
  }
  const others = logInputs(objects, snapshot)
  const ranges: ScanRange[] = memtableRanges(objects, plan.after, snapshot)
  const fresh = others.length + ranges.length
  const table = ObjectSegments.of(snapshot.segments, objects)
  skipped.addOthers(table.others)
  report.segments = table.segmentIds.length
  report.rows = table.rowCount
  const without = candidates.without(table)
  const matching = table.matching(plan.predicates)
  let lastRead: number | undefined
  for (let i = 0; i < table.count; i++) {
    const rowCount = table.rowCounts[i]!
    if (table.firstTransactions[i]! > snapshot.transaction) {
      skipped.add('version', 'version', rowCount, rowCount)
      continue
    }
    const passed = passedBy?.(table.entries[i]!)
    if (passed) {
      skipped.add('cursor', passed, rowCount, rowCount)
      continue
    }
    if (without?.[i] === 1) {
      skipped.add('key index', 'key index', rowCount, rowCount)
      continue
    }
    const excluding = matching.findIndex((zones) => zones && zones[i] === 0)
    if (excluding >= 0) {
      skipped.addWhole(excluding, rowCount)
      continue
    }
    const { segment, metadata, objectRows } = table.entries[i]!
    const granules = candidates.granulesOf(segment, metadata, objectRows)
    const pruning = pruneRows(metadata, objectRows, plan.predicates, semiJoinSets)
    skipped.addPruned(pruning.skipped, rowCount)
    const narrowed = narrowRanges(pruning.ranges, granules)
    skipped.add('key index', 'key index', narrowed.skipped, rowCount)
    for (const { from, to } of narrowed.ranges) {
      report.rowsRead += to - from
      const rows = { segment, metadata, objectRows, from, to }
      ranges.push(segmentRangeOf(rows, snapshot))
      if (segment === lastRead) continue
      report.segmentsRead++
      lastRead = segment
    }
  }
  const { rows, parts } = skipped.finish()
  return { ranges, others, report: { ...report, fresh, skipped: rows }, skipped: parts }
}

/** What of the place that a plan continues from leaves out all rows of a segment; undefined when it begins at the start. */
function placePassed(plan: PhysicalPlan) {
  const { after, afterSorted } = plan
  const [sortKey] = plan.sort
  const [first] = afterSorted?.values ?? []
  const place = first === undefined ? undefined : thresholdOf(fromPlain(first))
  if (!after && !place) return undefined
  return ({ metadata, objectRows }: ObjectSegment) => {
    if (after && compareRowKeys(objectRows.firstPagination, after) >= 0) return 'cursor'
    const zones = new Zones(metadata, objectRows, [])
    const isBehind = sortKey && place && !mayFollow(sortKey, zones, place)
    return isBehind ? 'sort position' : undefined
  }
}

/** Undefined when nobody knows. */
function rowCountOf(input: TaskInput): number | undefined {
  return input.kind === 'segment' || input.kind === 'memtable' ? input.to - input.from : undefined
}

function logInputs(objects: ReadonlySet<number>, { fresh, lost }: QuerySnapshot): TaskInput[] {
  const inputs: TaskInput[] = []
  for (const object of objects) {
    for (const logRanges of fresh.logRangesOf(object))
      inputs.push({ kind: 'log', object, logRanges })
  }
  for (const rows of lost ?? []) {
    if (objects.has(rows.object)) inputs.push({ kind: 'lost', ...rows })
  }
  return inputs
}

function memtableRanges(
  objects: ReadonlySet<number>,
  after: RowKey | undefined,
  { transaction, fresh, cold }: QuerySnapshot,
): MemtableRange[] {
  const ranges: MemtableRange[] = []
  for (const { id, memory, last, objects: held } of fresh.memtables) {
    const mayBeNewer = last > transaction || cold !== undefined
    for (const { object, from, to, oldest, newest } of held) {
      if (!objects.has(object) || (after && compareRowKeys(oldest, after) >= 0)) continue
      const input = {
        kind: 'memtable',
        memtable: id,
        memory,
        object,
        from,
        to,
        mayBeNewer,
      } as const
      ranges.push({ input, oldest, newest })
    }
  }
  return ranges
}

function segmentRangeOf(
  { segment, metadata, objectRows, from, to }: SegmentRows,
  { transaction, cold }: QuerySnapshot,
): SegmentRange {
  const { firstTransaction, lastTransaction } = objectRows
  const mayBeNewer =
    lastTransaction > transaction || firstTransaction <= (cold?.exportedThrough ?? 0)
  return {
    input: { kind: 'segment', segment, object: objectRows.object, from, to, mayBeNewer },
    metadata,
    objectRows,
    oldest: objectRows.firstPagination,
    newest: objectRows.lastPagination,
  }
}

interface SegmentRows extends ObjectSegment {
  readonly from: number
  readonly to: number
}

/** Of all rows, those that are taken by few granules at a time, at most; the others go by whole ranges. */
const lastShare = 1 / 4
const lastGranules = 4

/**
 * What tasks take one after the other of the inputs, in their order. The last morsels are small: whoever
 * takes one ends soon after the others, however long those took. They are no more rows than all tasks may have before them
 * when the first is done with whole ranges, as each morsel takes some microseconds besides its rows.
 *
 * @param tasks how many take morsels at a time
 */
export function morselsOf(
  inputs: readonly TaskInput[],
  plan: PhysicalPlan,
  tasks: number,
): TaskInput[][] {
  // The indexes of texts are asked once by each task that reads some of a segment.
  if (plan.predicates.some(asksTexts)) return inputs.map((input) => [input])
  const sizes = inputs.map((input) => rowCountOf(input) ?? granuleRows)
  const all = sizes.reduce((sum, size) => sum + size, 0)
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0)
  const whole = all - Math.min(all * lastShare, largest * tasks)
  const morsels: TaskInput[][] = []
  let rows = 0
  for (const [i, input] of inputs.entries()) {
    rows += sizes[i]!
    if (input.kind !== 'segment' || rows <= whole) morsels.push([input])
    else for (const few of granuleMorsels(input)) morsels.push([few])
  }
  return morsels
}

const textKinds: ReadonlySet<BoundExpression['kind']> = new Set(['like', 'match', 'includes'])

function asksTexts(node: BoundExpression): boolean {
  return textKinds.has(node.kind) || childrenOf(node).some(asksTexts)
}

function* granuleMorsels(input: SegmentRange['input']): Generator<TaskInput> {
  for (let { from } = input; from < input.to; ) {
    const end = (Math.floor(from / granuleRows) + lastGranules) * granuleRows
    const to = Math.min(input.to, end)
    yield { ...input, from, to }
    from = to
  }
}

/** The same where a task has to read all of a segment: the largest segments first. */
export function segmentMorsels(ranges: readonly SegmentRange[]): TaskInput[][] {
  const morsels = new Map<number, TaskInput[]>()
  for (const { input } of ranges) {
    const morsel = morsels.get(input.segment)
    if (morsel) morsel.push(input)
    else morsels.set(input.segment, [input])
  }
  const sizeOf = (morsel: readonly TaskInput[]) =>
    morsel.reduce((sum, input) => sum + (rowCountOf(input) ?? 0), 0)
  return [...morsels.values()].sort((a, b) => sizeOf(b) - sizeOf(a))
}

/** What was left out of a scan, as `explain` shows it. */
export function describePruning(report: PruningReport): string {
  const { segmentsRead, segments, rowsRead, rows, fresh } = report
  return `segments ${segmentsRead} of ${segments}, rows ${rowsRead} of ${rows}, fresh ${fresh}`
}
