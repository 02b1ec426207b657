/** How the engine is, for those who watch it. */
import { join } from 'node:path'
import type { PlanStatistics } from '../planner/plan-cache.ts'
import { segmentFolders } from '../storage/environment.ts'
import { diskBytesOf } from '../storage/maintenance/segment-files.ts'
import type { CacheStatistics } from './answer-cache.ts'
import type { DamagedSegments } from './maintenance/damaged-segments.ts'
import type { Maintenance } from './maintenance/maintenance.ts'
import type { ScrubStatus } from './maintenance/scrub-pace.ts'
import type { StepStatistics } from './maintenance/step-thread.ts'

export interface EngineStatus {
  readonly queries: QueriesStatus
  readonly tasks: {
    readonly workers: number
    readonly running: number
    readonly waiting: number
  }
  readonly plans: PlanStatistics
  readonly answers: CacheStatistics
  readonly segments: { readonly count: number; readonly rows: number }
  /** What is in no segment yet. */
  readonly delta: { readonly rows: number; readonly bytes: number }
  readonly scrub: ScrubStatus
  /** See `FreshRows.leftOut`. */
  readonly leftOut: number
  /** Damaged segments: how many were found since the start, and how many are not made again yet. */
  readonly damage: DamagedSegments['status']
  /** By kind of step. */
  readonly maintenance: Readonly<Record<string, StepStatistics>>
  /** On disk: of records, and of segments. */
  readonly storedBytes: Readonly<Record<string, number>>
}

export interface QueriesStatus {
  /** Begun, and not all of the answer taken. */
  readonly open: number
  /** At work on the threads. */
  readonly running: number
  readonly queued: number
  /** Logged as slow, so far. */
  readonly slow: number
  /** Cancelled while tasks were at work, so far, and for how long these went on, all together. */
  readonly left: { readonly count: number; readonly seconds: number }
  readonly memoryBytes: number
}

export function maintenanceStatus({
  manifest,
  delta,
  damaged,
  scrubbing,
  leftOut,
  steps,
}: Maintenance) {
  const rows = manifest.segments.reduce((sum, { metadata }) => sum + metadata.rowCount, 0)
  return {
    segments: { count: manifest.segments.length, rows },
    delta,
    scrub: scrubbing.status,
    leftOut,
    damage: damaged.status,
    maintenance: Object.fromEntries(steps),
  }
}

export function storedBytes(directory: string): Record<string, number> {
  const [segments, columns] = segmentFolders(directory)
  return {
    records: diskBytesOf(join(directory, 'records')),
    segments: diskBytesOf(segments) + diskBytesOf(columns),
  }
}
