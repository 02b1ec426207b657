/**
 * The manifest says which segments there are and how far they reach: row versions of all
 * transactions up to `flushedThrough` are in its segments, later ones are fresh rows. It is one small
 * entry that a commit replaces, so that a reader, and a restart after a crash, finds either the old
 * segments or the new ones, never a part of both.
 *
 * Segments that no manifest names are leftovers: of a step that was cut short, or of compaction while
 * queries still read an older manifest.
 */
import { decodeChecked, encodeChecked } from './checked-json.ts'
import type { LostRows } from './lost-rows.ts'
import type { SegmentMetadata } from './metadata.ts'

export interface ManifestSegment {
  readonly id: number
  readonly metadata: SegmentMetadata
}

/** Never changed; every step makes a new one with the next generation. */
export interface Manifest {
  readonly generation: number
  readonly flushedThrough: number
  /** The id of the segment that is written next. No id is given twice. */
  readonly nextSegment: number
  /** By id. */
  readonly segments: readonly ManifestSegment[]
  /** Those that count, too, but whose metadata is damaged; absent when there are none. */
  readonly unreadable?: readonly number[] | undefined
  /**
   * What is to be read of the row store in place of segments that are damaged; absent when none are. It is known in
   * memory alone.
   */
  readonly lost?: readonly LostRows[]
}

/** The manifest before the first flush. */
export const emptyManifest: Manifest = {
  generation: 0,
  flushedThrough: 0,
  nextSegment: 1,
  segments: [],
}

/** Ids of all segments that count. */
export function namedBy({ segments, unreadable = [] }: Manifest): number[] {
  return [...segments.map(({ id }) => id), ...unreadable]
}

/** How a manifest is stored: its segments by their ids alone. */
export interface ManifestEntry {
  readonly generation: number
  readonly flushedThrough: number
  readonly nextSegment: number
  readonly segments: readonly number[]
}

export function encodeManifest(manifest: Manifest): Buffer {
  const { generation, flushedThrough, nextSegment } = manifest
  const entry: ManifestEntry = {
    generation,
    flushedThrough,
    nextSegment,
    segments: namedBy(manifest),
  }
  return encodeChecked(entry)
}

/** Undefined unless `bytes` are what `encodeManifest` made. */
export function decodeManifest(bytes: Uint8Array): ManifestEntry | undefined {
  return decodeChecked(bytes) as ManifestEntry | undefined
}
