/** Leaves out of a split what the metadata of segments answers. */
import { ZoneMapGroups } from '../../executor/group/zone-map-groups.ts'
import { hasNoSupersession } from '../../executor/scan/visibility.ts'
import { ObjectSegments } from './object-segments.ts'
import { isAllVisible, isSegmentRange, narrowRange, type ScanRange } from './scan-range.ts'
import { type SplitInputs, type SplittingRun, splitInputs } from './scan-rows.ts'

/** What there is to be read for a plan, with the groups of what need not be. */
export function splitWithoutKnown(run: SplittingRun): SplitInputs {
  const groups = ZoneMapGroups.of(run.plan)
  if (!groups) return splitInputs(run)
  return takeRest(takeSegments(run, groups), run, groups)
}

/**
 * What is left to be split once rows are counted by what is known of all segments together, where nothing is asked of them
 * but how many they are. Whoever wants to know of each operator what it did is told segment by segment.
 */
function takeSegments(run: SplittingRun, groups: ZoneMapGroups): SplitInputs {
  const { plan, snapshot, split, pool, audit } = run
  const { predicates, objects, limit } = plan
  const isWhole = predicates.length === 0 && limit !== 0 && !objects.some((each) => each.isHistory)
  if (split || audit.isKept || !isWhole || snapshot.cold) return splitInputs(run)
  const { rowCount, bounds, lastTransaction } = ObjectSegments.ofPlan(plan, snapshot.segments)
  const { transaction } = snapshot
  const areAllSeen =
    lastTransaction <= transaction &&
    pool.read(({ records }) =>
      bounds.every(({ object, oldest, newest }) => {
        return hasNoSupersession(object, oldest, newest, transaction, records)
      }),
    )
  if (!areAllSeen || groups.takeUnread({ from: 0, to: rowCount }).length > 0)
    return splitInputs(run)
  return splitInputs({ ...run, snapshot: { ...snapshot, segments: noSegments } })
}

const noSegments: SplittingRun['snapshot']['segments'] = []

/** The same of what there is to be read, range by range. */
function takeRest(split: SplitInputs, run: SplittingRun, groups: ZoneMapGroups): SplitInputs {
  const { name, snapshot, pool, audit } = run
  const started = audit.now()
  const { transaction } = snapshot
  const ranges = pool.read(({ records }) => {
    return split.ranges.flatMap((range): readonly ScanRange[] => {
      if (!isAllVisible(range, transaction, records)) return [range]
      const left = isSegmentRange(range)
        ? groups.take(range.metadata, range.objectRows, range.input)
        : groups.takeUnread(range.input)
      return left.map((rows) => narrowRange(range, rows))
    })
  })
  if (groups.rowCount === 0) return split
  audit.profile(name).add({
    operator: 'metadata',
    rowsIn: groups.rowCount,
    rowsOut: 1,
    bytes: 0,
    milliseconds: audit.now() - started,
  })
  audit.add('metadata', started, { rows: groups.rowCount, segments: split.ranges.length })
  return { ...split, ranges, known: groups.toPartial() }
}
