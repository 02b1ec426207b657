/**
 * Takes the records of objects that were deleted from disk: first out of the segments, which are
 * written anew without them, and when no manifest in use names such a segment, out of the row store.
 * Each transaction is short, and whatever was done before a crash need not be done again.
 *
 * Runs of ids keep hashes of the objects' ids until these are folded away (`fold-ids.ts`).
 */
import type { BinaryDatabase, RecordDatabase, RecordsEnvironment } from '../environment.ts'
import { noteGoneIds } from '../id/gone-ids.ts'
import { entryCount } from '../id/id-chunk.ts'
import { chunkKey, fullHash } from '../id/id-run.ts'
import { readRunList } from '../id/id-run-list.ts'
import { readLeftOut, writeLeftOut } from '../read/left-out.ts'
import { lastSupersessionKey, objectRange } from '../record-key.ts'
import type { Manifest } from '../segment/manifest.ts'
import type { SegmentLimits } from '../segment/segment-sink.ts'
import type { SegmentStore } from '../segment/segment-store.ts'
import { compact } from './compaction.ts'

/** Entries that one transaction removes: some ten milliseconds. A block of rows takes some 30 pages. */
const removalsPerTransaction = 250

/** Writes one segment anew without the objects' rows; false when none has any. */
export function dropObjects(
  records: RecordsEnvironment,
  store: SegmentStore,
  objects: readonly number[],
  limits: SegmentLimits,
): boolean {
  const dropped = new Set(objects)
  const found = store.manifest().segments.find((segment) => holdsAny(segment, dropped))
  if (!found) return false
  compact(records, store, [found.id], { limits, withoutObjects: dropped })
  return true
}

/** Whether some segment of the manifest has rows of the objects, or had when it was damaged. */
export function namesAny({ segments, lost }: Manifest, objects: ReadonlySet<number>): boolean {
  if (lost?.some(({ object }) => objects.has(object))) return true
  return segments.some((segment) => holdsAny(segment, objects))
}

function holdsAny(
  { metadata }: Manifest['segments'][number],
  objects: ReadonlySet<number>,
): boolean {
  return metadata.objects.some(({ object }) => objects.has(object))
}

/** Removes all that the row store has of the objects; nobody may read them any more. */
export function purgeRows(records: RecordsEnvironment, objects: readonly number[]): void {
  const { root, rows, ids, supersessions, fieldPaths, progress } = records
  for (const object of objects) {
    for (const database of [rows, ids, supersessions, fieldPaths]) {
      while (removeSome(records, database, object));
    }
    const gone = idsInRuns(records, object)
    root.transactionSync(() => {
      progress.removeSync(lastSupersessionKey(object))
      noteGoneIds(progress, gone)
    })
  }
  const leftOut = readLeftOut(progress)
  const left = leftOut.filter(({ object }) => !objects.includes(object))
  if (left.length < leftOut.length) writeLeftOut(records, left)
}

/** About: of chunks that begin with another object it is not known how many there are. */
function idsInRuns({ progress, idRuns }: RecordsEnvironment, object: number): number {
  let count = 0
  for (const { id } of readRunList(progress).runs) {
    const range = {
      start: chunkKey(id, fullHash(object, '')),
      end: chunkKey(id, fullHash(object + 1, '')),
    }
    for (const { value } of idRuns.getReadable(range, () => undefined)) count += entryCount(value)
  }
  return count
}

function removeSome(
  { root }: RecordsEnvironment,
  database: BinaryDatabase | RecordDatabase,
  object: number,
): boolean {
  root.resetReadTxn()
  const keys = [...database.getKeys({ ...objectRange(object), limit: removalsPerTransaction })]
  if (keys.length === 0) return false
  root.transactionSync(() => {
    for (const key of keys) database.removeSync(key)
  })
  return true
}
