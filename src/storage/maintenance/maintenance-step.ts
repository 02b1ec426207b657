/** The steps of maintenance, as they are sent to its thread. */
import type { WireError } from '../../error.ts'
import type { RecordsEnvironment } from '../environment.ts'
import { RecordReader } from '../read/record-reader.ts'
import { isRecordDamage } from '../record-damage.ts'
import type { SegmentLimits } from '../segment/segment-sink.ts'
import type { SegmentStore } from '../segment/segment-store.ts'
import { storageError } from '../storage-error.ts'
import { compact } from './compaction.ts'
import { chooseCompaction } from './compaction-policy.ts'
import { finishSegment, unfinished } from './finish-segment.ts'
import { type FlushedRows, flush } from './flush.ts'
import { defaultFoldLimits, foldIds, removeUnlistedRuns } from './fold-ids.ts'
import { packRows } from './pack-rows.ts'
import { dropObjects, purgeRows } from './remove-objects.ts'
import { findSuperseded } from './superseded-share.ts'
import { trimFiles } from './trim-files.ts'

/** Between two flushes of a load, of some seconds each. */
const foldMs = 300

export type MaintenanceStep =
  /** Removes what a process that was killed left behind; `changed`: something is to be done. */
  | { readonly kind: 'recover' }
  | {
      readonly kind: 'flush'
      readonly limits: SegmentLimits
      /** See `flush`. */
      readonly fresh?: FlushedRows
    }
  /** Packs the rows that were flushed, and folds ids for a while; `changed`: there may be more to fold. */
  | { readonly kind: 'tidy' }
  /**
   * Merges once, or, unless it is about small segments only, writes one anew; see `CompactionOptions` and, for `eager`,
   * `findSuperseded`.
   */
  | {
      readonly kind: 'compact'
      readonly limits: SegmentLimits
      readonly eager?: boolean
      readonly onlySmall?: boolean
    }
  /** Finishes a segment; see `finish-segment.ts`. */
  | { readonly kind: 'finish' }
  /** Gives free space of the segments' files back; see `trim-files.ts`. */
  | { readonly kind: 'trim' }
  | { readonly kind: 'remove'; readonly ids: readonly number[] }
  /** Writes a segment anew without rows of these objects; `changed`: one had some. */
  | { readonly kind: 'drop'; readonly objects: readonly number[]; readonly limits: SegmentLimits }
  /** Removes what the row store has of these objects. */
  | { readonly kind: 'purge'; readonly objects: readonly number[] }

/** By store, segments that stay as they are: records of theirs are damaged that one would need to write them anew. */
const stuckSegments = new WeakMap<SegmentStore, Set<number>>()

function stuckOf(store: SegmentStore): Set<number> {
  const known = stuckSegments.get(store) ?? new Set()
  stuckSegments.set(store, known)
  return known
}

/** Whether there is a new manifest, or what went wrong. */
export type StepOutcome = { readonly changed: boolean } | { readonly error: WireError }

/**
 * Carries out one step and tells whether it changed anything.
 *
 * @param checkpoint called now and then while it merges or finishes segments, which may take seconds; what it
 *   throws ends the step, and nothing has changed
 */
export function runStep(
  step: MaintenanceStep,
  records: RecordsEnvironment,
  store: SegmentStore,
  checkpoint?: () => void,
): boolean {
  try {
    const before = store.manifest()
    switch (step.kind) {
      case 'recover': {
        const named = new Set(before.segments.map(({ id }) => id))
        const leftovers = store.storedIds().filter((id) => !named.has(id))
        if (leftovers.length > 0) store.remove(leftovers)
        removeUnlistedRuns(records)
        const hasDelta = new RecordReader(records).lastTransaction() > before.flushedThrough
        return hasDelta || unfinished(before).length > 0
      }
      case 'flush':
        return flush(records, store, step.limits, step.fresh).generation !== before.generation
      case 'tidy':
        packRows(records, before.flushedThrough)
        return foldIds(records, defaultFoldLimits, foldMs)
      case 'compact': {
        const { limits, eager = false, onlySmall } = step
        const stuck = stuckOf(store)
        const segments = before.segments.filter(({ id }) => !stuck.has(id))
        const merged = chooseCompaction(segments, step)
        const rewritten =
          merged || onlySmall ? undefined : findSuperseded(records, store, segments, eager)
        const ids = merged ?? (rewritten === undefined ? undefined : [rewritten])
        if (ids === undefined) return false
        try {
          compact(records, store, ids, { limits, checkpoint })
        } catch (thrown) {
          if (!isRecordDamage(thrown)) throw thrown
          for (const id of ids) stuck.add(id)
        }
        return true
      }
      case 'finish':
        return finishSegment(store, checkpoint)
      case 'trim':
        return trimFiles(store.environment) > 0
      case 'remove':
        store.remove(step.ids)
        return true
      case 'drop':
        return dropObjects(records, store, step.objects, step.limits)
      case 'purge':
        purgeRows(records, step.objects)
        return true
    }
  } catch (thrown) {
    throw storageError('the segments', thrown, records.directory)
  } finally {
    records.root.resetReadTxn()
  }
}
