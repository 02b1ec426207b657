/** Rows that an offset leaves out without reading them, since metadata tells that each is in the answer. */
import { isCertain, mayBeCertain } from '../../executor/scan/certain.ts'
import { Zones } from '../../executor/scan/zones.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { granuleRows } from '../../vector/column.ts'
import type { PlanRun } from './scan-rows.ts'
import { isAllVisible, isSegmentPiece, type Piece, rowsOfPiece } from './split.ts'

export interface Skipped {
  /** What is left to be read, newest first. */
  readonly clusters: readonly (readonly Piece[])[]
  readonly rowCount: number
}

/**
 * Leaves out the newest rows of clusters, up to the first cluster of which not every row is known to be
 * seen and to pass.
 *
 * @param clusters newest first
 * @param atMost rows
 */
export function skipKnown(
  clusters: readonly (readonly Piece[])[],
  atMost: number,
  { name, plan, snapshot, pool, audit }: PlanRun,
): Skipped {
  if (atMost <= 0 || clusters.length === 0 || !maySkip(plan)) return { clusters, rowCount: 0 }
  const started = audit.now()
  const left = pool.read(({ records }) => {
    const isKnown = (piece: Piece) =>
      passesAll(piece, plan) && isAllVisible(piece, snapshot.transaction, records)
    return withoutNewest(clusters, atMost, isKnown)
  })
  if (left.rowCount === 0) return left
  audit.profile(name).add({
    operator: 'metadata',
    rowsIn: left.rowCount,
    rowsOut: 0,
    bytes: 0,
    milliseconds: audit.now() - started,
  })
  audit.add('offset', started, { rows: left.rowCount })
  return left
}

function maySkip({ access, after, unpivots, stage, predicates }: PhysicalPlan): boolean {
  return (
    access.kind === 'scan' &&
    stage.kind === 'rows' &&
    unpivots.length === 0 &&
    !after &&
    predicates.every(mayBeCertain)
  )
}

function passesAll(piece: Piece, plan: PhysicalPlan): boolean {
  if (plan.predicates.length === 0) return true
  if (!isSegmentPiece(piece)) return false
  const { input, metadata, part } = piece
  const { from, to } = input
  const zones = new Zones(metadata, part, [])
  const last = Math.floor((to - 1) / granuleRows)
  for (zones.granule = Math.floor(from / granuleRows); zones.granule <= last; zones.granule++) {
    if (!plan.predicates.every((predicate) => isCertain(predicate, zones))) return false
  }
  return true
}

function withoutNewest(
  clusters: readonly (readonly Piece[])[],
  atMost: number,
  isKnown: (piece: Piece) => boolean,
): Skipped {
  let rowCount = 0
  for (const [i, cluster] of clusters.entries()) {
    const rows = cluster.reduce((sum, { input }) => sum + input.to - input.from, 0)
    const wanted = atMost - rowCount
    const [only, ...others] = cluster
    // Of pieces that overlap in age, it is not known which rows are the newest.
    const isSkipped =
      wanted > 0 && (rows <= wanted || others.length === 0) && cluster.every(isKnown)
    if (!isSkipped) return { clusters: clusters.slice(i), rowCount }
    if (rows > wanted) {
      const { from, to } = only!.input
      const older = rowsOfPiece(only!, { from, to: to - wanted })
      return { clusters: [[older], ...clusters.slice(i + 1)], rowCount: atMost }
    }
    rowCount += rows
  }
  return { clusters: [], rowCount }
}
