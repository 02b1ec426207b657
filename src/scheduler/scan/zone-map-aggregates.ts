/** Rows that an offset leaves out without reading them, since metadata tells that each is in the answer. */
import { isCertain, mayBeCertain } from '../../executor/scan/certain.ts'
import { Zones } from '../../executor/scan/zones.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { TaskReads } from '../../storage/read/task-reads.ts'
import { granuleRows } from '../../vector/column.ts'
import type { OrderedSources } from './ordered-sources.ts'
import { isAllVisible, isSegmentRange, type ScanRange } from './scan-range.ts'
import type { PlanRun } from './scan-rows.ts'
import type { QuerySnapshot } from './snapshot.ts'

interface SkippingReads {
  readonly snapshot: Pick<QuerySnapshot, 'transaction'>
  readonly reads: Pick<TaskReads, 'openSegment' | 'records'>
}

/** Takes the newest rows out, up to the first of which it is not known that they are in the answer; returns how many. */
export function skipKnown(
  sources: OrderedSources,
  plan: PhysicalPlan,
  atMost: number,
  { snapshot, reads }: SkippingReads,
): number {
  const { sort, unpivots, after, predicates } = plan
  const isByAge = sort.length === 0 && unpivots.length === 0 && !after
  if (atMost <= 0 || !isByAge || !predicates.every(mayBeCertain)) return 0
  const isKnown = (range: ScanRange) =>
    passesAll(range, predicates) && isAllVisible(range, snapshot.transaction, reads.records)
  return sources.skip(atMost, isKnown)
}

/** Tells whoever asks that rows were skipped. */
export function noteSkipped(
  { name, audit }: Pick<PlanRun, 'name' | 'audit'>,
  started: number,
  rows: number,
): void {
  if (rows === 0) return
  const milliseconds = audit.now() - started
  audit
    .profile(name)
    .add({ operator: 'metadata', rowsIn: rows, rowsOut: 0, bytes: 0, milliseconds })
  audit.add('offset', started, { rows })
}

function passesAll(range: ScanRange, predicates: PhysicalPlan['predicates']): boolean {
  if (predicates.length === 0) return true
  if (!isSegmentRange(range)) return false
  const { input, metadata, objectRows } = range
  const zones = new Zones(metadata, objectRows, [])
  const last = Math.floor((input.to - 1) / granuleRows)
  for (
    zones.granule = Math.floor(input.from / granuleRows);
    zones.granule <= last;
    zones.granule++
  ) {
    if (!predicates.every((predicate) => isCertain(predicate, zones))) return false
  }
  return true
}
