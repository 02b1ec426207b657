/** Finds segments of which so much is superseded that they are worth being written anew without it. */
import type { RecordsEnvironment } from '../environment.ts'
import { RecordReader } from '../read/record-reader.ts'
import { forEachSuperseded } from '../read/superseded-rows.ts'
import { isRecordDamage } from '../record-damage.ts'
import type { ManifestSegment } from '../segment/manifest.ts'
import { isSupersededWhole } from '../segment/metadata.ts'
import type { SegmentStore } from '../segment/segment-store.ts'
import { objectRuns } from '../shred/shred-keys.ts'

/** Of a segment's rows. So an update or a deletion costs four rewritten rows at most. */
const worthwhileShare = 1 / 4

/** After so long the other segments wait for the next time: of one, marks are read for up to 100 ms. */
const checkMs = 50

interface Check {
  /** When it was, by the clock of the process. */
  readonly at: number
  /** The last supersession of the segment's objects that there was then. */
  readonly last: number
}

/** What was found out of each store's segments, by id. */
const checksOf = new WeakMap<SegmentStore, Map<number, Check>>()

/**
 * One of the segments; undefined when none is found, or there was no time to look at all. Where nothing was
 * superseded since a segment was looked at, it is not looked at again.
 *
 * @param eager looks at all
 */
export function findSuperseded(
  records: RecordsEnvironment,
  store: SegmentStore,
  segments: readonly ManifestSegment[],
  eager: boolean,
): number | undefined {
  const checks = checksOf.get(store) ?? new Map<number, Check>()
  checksOf.set(store, checks)
  const reader = new RecordReader(records)
  const end = eager ? Number.POSITIVE_INFINITY : performance.now() + checkMs
  const longestAgoFirst = segments
    .filter(({ metadata }) => !isSupersededWhole(metadata))
    .toSorted((a, b) => (checks.get(a.id)?.at ?? 0) - (checks.get(b.id)?.at ?? 0))
  for (const { id, metadata } of longestAgoFirst) {
    const last = metadata.objects.reduce(
      (latest, { object }) => Math.max(latest, reader.lastSupersession(object)),
      0,
    )
    if (last <= (metadata.currentThrough ?? 0) || checks.get(id)?.last === last) continue
    checks.set(id, { at: performance.now(), last })
    if (countSuperseded(store, id, reader) >= metadata.rowCount * worthwhileShare) return id
    if (performance.now() > end) return undefined
  }
  return undefined
}

function countSuperseded(store: SegmentStore, id: number, reader: RecordReader): number {
  const { keys } = store.open(id)
  const through = reader.lastTransaction()
  let count = 0
  try {
    for (const range of objectRuns(keys.object)) {
      const ofObject = { ...range, object: keys.object[range.from]! }
      forEachSuperseded(keys, ofObject, through, reader, () => count++)
    }
  } catch (thrown) {
    // A segment whose marks cannot be read cannot be written anew.
    if (isRecordDamage(thrown)) return 0
    throw thrown
  }
  return count
}
