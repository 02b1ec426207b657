/**
 * The manifest says which segments there are and how far they reach: row versions of all
 * transactions up to `flushedThrough` are in its segments, later ones are the delta. It is one small
 * entry that a commit replaces, so that a reader, and a restart after a crash, finds either the old
 * segments or the new ones, never a part of both.
 *
 * Segments that no manifest names are leftovers: of a step that was cut short, or of compaction while
 * queries still read an older manifest.
 */
import { AssayError } from '../../error.ts'
import { decodeChecked, encodeChecked } from './checked-json.ts'
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
}

/** The manifest before the first flush. */
export const emptyManifest: Manifest = {
  generation: 0,
  flushedThrough: 0,
  nextSegment: 1,
  segments: [],
}

/** How a manifest is stored: its segments by their ids alone. */
export interface ManifestEntry {
  readonly generation: number
  readonly flushedThrough: number
  readonly nextSegment: number
  readonly segments: readonly number[]
}

export function encodeManifest(manifest: Manifest): Buffer {
  const { generation, flushedThrough, nextSegment, segments } = manifest
  const entry: ManifestEntry = {
    generation,
    flushedThrough,
    nextSegment,
    segments: segments.map(({ id }) => id),
  }
  return encodeChecked(entry)
}

/** Throws STORAGE_CORRUPT unless `bytes` are what `encodeManifest` made. */
export function decodeManifest(bytes: Uint8Array): ManifestEntry {
  const entry = decodeChecked(bytes) as ManifestEntry | undefined
  if (entry !== undefined) return entry
  throw new AssayError('STORAGE_CORRUPT', 'the list of segments does not match its checksum', {
    hint: 'delete the directory "segments" under the data directory; it is made again from the records',
  })
}
