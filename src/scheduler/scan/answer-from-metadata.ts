/** Leaves out of a split what the metadata of segments answers. */
import { KnownGroups } from '../../executor/group/known-groups.ts'
import type { SplitInputs, SplittingRun } from './scan-rows.ts'
import { areAllVisible, isAllVisible, isSegmentPiece, type Piece, rowsOfPiece } from './split.ts'

/** What is left to be read, with the groups of what need not be. */
export function withoutKnown(split: SplitInputs, run: SplittingRun): SplitInputs {
  const { name, plan, snapshot, pool, audit } = run
  const groups = split.pieces.length > 0 ? KnownGroups.of(plan) : undefined
  if (!groups) return split
  const started = audit.now()
  const { transaction } = snapshot
  const pieces = pool.read(({ records }) => {
    const areAll = areAllVisible(split.pieces, transaction, records)
    return split.pieces.flatMap((piece): readonly Piece[] => {
      if (!areAll && !isAllVisible(piece, transaction, records)) return [piece]
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
