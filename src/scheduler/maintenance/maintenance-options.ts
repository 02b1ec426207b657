/** What maintenance is started with. */
import type { LogRange } from '../../storage/prepare/memtable.ts'
import type { Manifest } from '../../storage/segment/manifest.ts'
import type { SegmentLimits } from '../../storage/segment/segment-sink.ts'
import type { SegmentStore } from '../../storage/segment/segment-store.ts'
import type { DiskReserve } from '../admission/disk-reserve.ts'
import type { FreshRows } from './fresh-rows.ts'

export interface MaintenanceLogger {
  debug(details: object, message: string): void
  error(details: object, message: string): void
}

export interface MaintenanceOptions {
  readonly directory: string
  /** The segments as the calling thread sees them. */
  readonly store: SegmentStore
  /** What queries read of what is not flushed; all that the row store has when not given. */
  readonly fresh?: FreshRows
  readonly logger?: MaintenanceLogger
  /** How fast all that is stored is read for damage, while nobody asks; 0, which is the default: not at all. */
  readonly scrubBytesPerSecond?: number
  /** Flush and compact without being asked; the default. */
  readonly automatic?: boolean
  readonly limits?: Partial<SegmentLimits>
  /** Objects that were deleted, whose records are to be removed from disk. */
  readonly removals?: Removals
  /** See `QueryPool`. */
  readonly runningTasks?: Int32Array
  /** While it is reached nothing is merged that has no need to be, as that takes room for a time. */
  readonly reserve?: Pick<DiskReserve, 'isReached' | 'claimSegmentRoom'>
  /** What flushes have left out of segments. */
  readonly leftOut?: () => readonly LogRange[]
  /** Called with every new manifest. */
  readonly onManifest?: (manifest: Manifest) => void
}

export interface Removals {
  /** Numbers of objects that nobody writes to or reads any more. */
  purges(): readonly number[]
  /** Called when nothing of them is left. */
  purged(objects: readonly number[]): Promise<void>
}

export interface AcquiredManifest {
  readonly manifest: Manifest
  /** To be called once, when none of the manifest's segments will be read any more. */
  release(): void
}
