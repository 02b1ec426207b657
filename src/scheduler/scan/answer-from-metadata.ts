/** Leaves out of a split what the metadata of segments answers. */
import { KnownGroups } from '../../executor/group/known-groups.ts'
import { hasNoSupersession } from '../../executor/scan/visibility.ts'
import { ObjectParts } from './object-parts.ts'
import { isAllVisible, isSegmentPiece, type Piece, rowsOfPiece } from './piece.ts'
import { type SplitInputs, type SplittingRun, splitInputs } from './scan-rows.ts'

/** What there is to be read for a plan, with the groups of what need not be. */
export function splitWithoutKnown(run: SplittingRun): SplitInputs {
  const groups = KnownGroups.of(run.plan)
  if (!groups) return splitInputs(run)
  return takeRest(takeSegments(run, groups), run, groups)
}

/**
 * What is left to be split once rows are counted by what is known of all segments together, where nothing is asked of them
 * but how many they are. Whoever wants to know of each operator what it did is told segment by segment.
 */
function takeSegments(run: SplittingRun, groups: KnownGroups): SplitInputs {
  const { plan, snapshot, split, pool, audit } = run
  const { predicates, objects, limit } = plan
  const isWhole = predicates.length === 0 && limit !== 0 && !objects.some((each) => each.isHistory)
  if (split || audit.isKept || !isWhole) return splitInputs(run)
  const { rowCount, bounds, lastTransaction } = ObjectParts.ofPlan(plan, snapshot.segments)
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

/** The same of what there is to be read, piece by piece. */
function takeRest(split: SplitInputs, run: SplittingRun, groups: KnownGroups): SplitInputs {
  const { name, snapshot, pool, audit } = run
  const started = audit.now()
  const { transaction } = snapshot
  const pieces = pool.read(({ records }) => {
    return split.pieces.flatMap((piece): readonly Piece[] => {
      if (!isAllVisible(piece, transaction, records)) return [piece]
      const ranges = isSegmentPiece(piece)
        ? groups.take(piece.metadata, piece.part, piece.input)
        : groups.takeUnread(piece.input)
      return ranges.map((range) => rowsOfPiece(piece, range))
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
  audit.add('metadata', started, { rows: groups.rowCount, segments: split.pieces.length })
  return { ...split, pieces, known: groups.toPartial() }
}
