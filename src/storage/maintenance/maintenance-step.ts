/** The steps of maintenance, as they are sent to its thread. */
import type { WireError } from '../../error.ts'
import type { RecordsEnvironment } from '../environment.ts'
import { readLeftOut } from '../read/left-out.ts'
import { RecordReader } from '../read/record-reader.ts'
import { isRecordDamage } from '../record-damage.ts'
import type { LostRows } from '../segment/lost-rows.ts'
import { namedBy } from '../segment/manifest.ts'
import type { SegmentLimits } from '../segment/segment-sink.ts'
import type { SegmentStore } from '../segment/segment-store.ts'
import { storageError } from '../storage-error.ts'
import { compact } from './compaction.ts'
import { chooseCompaction } from './compaction-policy.ts'
import { evictRows, evictSegments, noteEvicted } from './evict-rows.ts'
import { findLostRows } from './find-lost-rows.ts'
import { finishSegment, unfinished } from './finish-segment.ts'
import { type FlushedRows, flush } from './flush.ts'
import { defaultFoldLimits, foldIds, removeUnlistedRuns } from './fold-ids.ts'
import { packRows } from './pack-rows.ts'
import { notePurges, type Purge } from './purge-plan.ts'
import { purgePlannedRows, purgeSegments } from './purge-versions.ts'
import { rebuildSegments } from './rebuild-segments.ts'
import { dropObjects, purgeRows } from './remove-objects.ts'
import { findSuperseded } from './superseded-share.ts'
import { trimFiles } from './trim-files.ts'
import { wipeFiles } from './wipe-free.ts'

/** Between two flushes of a load, of some seconds each. */
const foldMs = 300

/** What is worth while to have of a disk that is full. */
const leastTrimmedBytes = 2 ** 20

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
  /** Gives free space of the segments' files back, however little if the disk is full; see `trim-files.ts`. */
  | { readonly kind: 'trim'; readonly isFull?: boolean }
  | { readonly kind: 'remove'; readonly ids: readonly number[] }
  /** Makes damaged segments again; `changed`: the manifest named one of them. */
  | { readonly kind: 'rebuild'; readonly ids: readonly number[]; readonly limits: SegmentLimits }
  /** Makes a segment's index of keys again, which is damaged. */
  | { readonly kind: 'index_keys'; readonly id: number }
  /** Writes a segment anew without rows of these objects; `changed`: one had some. */
  | { readonly kind: 'drop'; readonly objects: readonly number[]; readonly limits: SegmentLimits }
  /** Removes what the row store has of these objects. */
  | { readonly kind: 'purge'; readonly objects: readonly number[] }
  /** Stores which row versions are to be removed. */
  | { readonly kind: 'note_purges'; readonly purges: readonly Purge[] }
  /** Writes a segment anew without row versions that are to be removed; `changed`: one had some. */
  | { readonly kind: 'purge_segments'; readonly limits: SegmentLimits }
  /** Removes them from the row store; `changed`: no segment had any, and it was done. */
  | { readonly kind: 'purge_rows' }
  /** Stores up to which transaction bodies are to leave; `changed`: that is later than before. See `evict-rows.ts`. */
  | { readonly kind: 'note_evicted'; readonly through: number; readonly database: string }
  /** Writes a segment anew without rows that are to leave; `changed`: one had some. */
  | { readonly kind: 'evict_segments'; readonly limits: SegmentLimits }
  /** Takes bodies out of the row store for a while; `changed`: all that are to leave have left. */
  | { readonly kind: 'evict_rows' }
  /** Overwrites for a while what is free in the files; `changed`: there is more. */
  | { readonly kind: 'wipe' }

/** Those that make a new manifest when they change something. */
export const manifestSteps: ReadonlySet<string> = new Set([
  'flush',
  'compact',
  'drop',
  'purge_segments',
  'evict_segments',
  'rebuild',
])

/** By store, segments that stay as they are: records of theirs are damaged that one would need to write them anew. */
const stuckSegments = new WeakMap<SegmentStore, Set<number>>()

function stuckOf(store: SegmentStore): Set<number> {
  const known = stuckSegments.get(store) ?? new Set()
  stuckSegments.set(store, known)
  return known
}

/** Whether there is a new manifest, or what went wrong. */
export type StepOutcome = { readonly changed: boolean } | { readonly error: WireError }

/** What only reads, and needs not wait for steps. */
export interface LostQuestion {
  readonly kind: 'lost'
  /** Segments that are damaged. */
  readonly ids: readonly number[]
}

export type LostAnswer = { readonly lost: readonly LostRows[] } | { readonly error: WireError }

/** See `findLostRows`. */
export function answerLost(
  { ids }: LostQuestion,
  records: RecordsEnvironment,
  store: SegmentStore,
): LostRows[] {
  records.root.resetReadTxn()
  const transaction = records.root.useReadTransaction()
  try {
    const reader = new RecordReader(records)
    const leftOut = readLeftOut(records.progress)
    return findLostRows(reader, leftOut, store, store.manifest(), new Set(ids), transaction)
  } finally {
    transaction.done()
    records.root.resetReadTxn()
  }
}

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
        const named = new Set(namedBy(before))
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
        return trimFiles(store.environment, step.isFull ? leastTrimmedBytes : undefined) > 0
      case 'remove':
        store.remove(step.ids)
        return true
      case 'rebuild':
        return rebuildSegments(records, store, step.ids, step.limits, checkpoint)
      case 'index_keys':
        if (!namedBy(before).includes(step.id)) return false
        store.writeKeys(step.id)
        return true
      case 'drop':
        return dropObjects(records, store, step.objects, step.limits)
      case 'purge':
        purgeRows(records, step.objects)
        return true
      case 'note_purges':
        notePurges(records, step.purges)
        return true
      case 'purge_segments':
        return purgeSegments(records, store, step.limits, checkpoint)
      case 'purge_rows':
        return purgePlannedRows(records, store)
      case 'note_evicted':
        return noteEvicted(records, store, step)
      case 'evict_segments':
        return evictSegments(records, store, step.limits, checkpoint)
      case 'evict_rows':
        return evictRows(records, store)
      case 'wipe':
        return wipeFiles(records, store.environment)
    }
  } catch (thrown) {
    throw storageError('the segments', thrown, records.directory)
  } finally {
    records.root.resetReadTxn()
  }
}
