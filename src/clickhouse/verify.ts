/** Compares all that a data directory has with what the nodes have, and mends the nodes where that is wanted. */

import { RemovedObjects } from '../catalog/removed-objects.ts'
import type { RecordsEnvironment } from '../storage/environment.ts'
import { readEvictedMark } from '../storage/read/evicted-mark.ts'
import { endOfRange } from './batch-reader.ts'
import type { ClickHouseCluster } from './cluster.ts'
import { compareRange, type Difference } from './compare.ts'
import { type ReadSource, sourceOf } from './read-records.ts'
import { type Repaired, repairRange } from './repair-range.ts'

/** Of records, which are compared at once. */
const rangeBytes = 128 * 2 ** 20

export interface VerifyOptions {
  /** All transactions up to this one should have arrived. */
  readonly through: number
  readonly isRepairing: boolean
  /** Called after each range: with what differs, and what was done about it. */
  readonly onRange: (through: number, found: readonly VerifiedDifference[]) => void
}

export interface VerifiedDifference extends Difference {
  readonly repaired: Repaired | undefined
}

export interface Verified {
  readonly ranges: number
  readonly rows: number
  readonly differences: number
}

/** With repairs, nothing else may export to the database meanwhile. */
export async function verifyExport(
  records: RecordsEnvironment,
  cluster: ClickHouseCluster,
  { through, isRepairing, onRange }: VerifyOptions,
): Promise<Verified> {
  const removed = removedObjects(records)
  const within = sourceOf(records, (object) => !removed.has(object))
  const evicted = Math.min(through, readEvictedMark(records.progress)?.through ?? 0)
  let ranges = 0
  let rows = 0
  let differences = 0
  for (let from = 0; from < through; ranges++) {
    const isEvicted = from < evicted
    const to = nextEnd(within, from, isEvicted ? evicted : through)
    const range = { from, to, isEvicted }
    const compared = await compareRange(cluster, within, range, through)
    rows += compared.rows
    const found: VerifiedDifference[] = []
    for (const difference of compared.differences) {
      const { object } = difference
      const repaired =
        isRepairing && !isEvicted
          ? await repairRange(cluster, within, object, range, through)
          : undefined
      found.push({ ...difference, repaired })
    }
    differences += found.length
    onRange(to, found)
    from = to
  }
  return { ranges, rows, differences }
}

function nextEnd(within: ReadSource, from: number, through: number): number {
  const to = within(({ reader, transaction }) =>
    endOfRange(reader, from, through, transaction, rangeBytes),
  )
  const isLast = within(({ reader, transaction }) => {
    return endOfRange(reader, to, through, transaction, 1) === to
  })
  // What nodes have beyond the log belongs to the last range.
  return isLast ? through : to
}

/** Numbers of those whose records are not exported. */
function removedObjects({ root, catalog }: RecordsEnvironment): ReadonlySet<number> {
  root.resetReadTxn()
  const removed = new RemovedObjects()
  for (const { key, value } of catalog.getRange()) removed.note(key.toString(), value)
  root.resetReadTxn()
  return removed.numbers()
}
