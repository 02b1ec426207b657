/** In which columns of a segment a path is, by its metadata. */
import { hiddenField } from '../../binder/bound.ts'
import {
  type ColumnMetadata,
  residualPathsOf,
  type SegmentMetadata,
} from '../../storage/segment/metadata.ts'
import { isStoredField } from '../../type/record.ts'
import { leadsTo, type Path } from '../../type/value.ts'

/** Columns that hold all there is at a path; unknown when more may be elsewhere. */
export type Held = readonly ColumnMetadata[] | 'unknown'

/** What was found out of the paths of a segment, by its metadata, which never change. */
export class SegmentColumns {
  static readonly #ofSegments = new WeakMap<SegmentMetadata, SegmentColumns>()
  readonly #metadata: SegmentMetadata
  readonly #byPath = new Map<string, ColumnMetadata[]>()
  readonly #held = new Map<string, Held>()
  readonly #presentByPath = new WeakMap<Path, number | 'unknown'>()

  private constructor(metadata: SegmentMetadata) {
    this.#metadata = metadata
    for (const column of metadata.columns) {
      const key = JSON.stringify(column.path)
      const known = this.#byPath.get(key)
      if (known) known.push(column)
      else this.#byPath.set(key, [column])
    }
  }

  static of(metadata: SegmentMetadata): SegmentColumns {
    let columns = SegmentColumns.#ofSegments.get(metadata)
    if (!columns) {
      columns = new SegmentColumns(metadata)
      SegmentColumns.#ofSegments.set(metadata, columns)
    }
    return columns
  }

  at(path: Path): Held {
    const key = JSON.stringify(path)
    const held = this.#held.get(key) ?? this.#find(path)
    if (this.#held.size < rememberedPaths) this.#held.set(key, held)
    return held
  }

  /** In how many rows of the segment there is a value at the path. */
  presentAt(path: Path): number | 'unknown' {
    const known = this.#presentByPath.get(path)
    if (known !== undefined) return known
    // A row of which the residual has members of an object alone is marked as one that has the object.
    const columns = this.#find(path, leadsTo)
    const present = columns === 'unknown' ? columns : this.#countOf(columns)
    this.#presentByPath.set(path, present)
    return present
  }

  /** A row has a value in one column at most. */
  #countOf(columns: readonly ColumnMetadata[]): number {
    return columns
      .filter(({ type }) => type !== 'nulls')
      .reduce((sum, { nullCount }) => sum + this.#metadata.rowCount - nullCount, 0)
  }

  /** @param isOf whether it matters that residuals have something at a path */
  #find(path: Path, isOf = touches): Held {
    const name = String(path[0])
    if (!isStoredField(name) || name === hiddenField.object) return 'unknown'
    if (path.some((part) => typeof part === 'number')) return 'unknown'
    if (residualPathsOf(this.#metadata).some((other) => isOf(other, path))) return 'unknown'
    for (let length = 0; length <= path.length; length++) {
      const columns = this.#byPath.get(JSON.stringify(path.slice(0, length))) ?? []
      if (columns.some((column) => column.type === 'stored')) return 'unknown'
    }
    return this.#byPath.get(JSON.stringify(path)) ?? []
  }
}

/**
 * By the paths of plans that are run again, and one table of all segments for each: that lies in a cache where one of
 * all paths for each segment does not, which took a look-up by trace a tenth of its time with 178 segments.
 */
const heldByPath = new WeakMap<Path, WeakMap<SegmentMetadata, Held>>()

/** What a segment has at the path. */
export function heldAt(path: Path, metadata: SegmentMetadata): Held {
  let bySegment = heldByPath.get(path)
  if (!bySegment) {
    bySegment = new WeakMap()
    heldByPath.set(path, bySegment)
  }
  let held = bySegment.get(metadata)
  if (!held) {
    held = SegmentColumns.of(metadata).at(path)
    bySegment.set(metadata, held)
  }
  return held
}

/** Paths of a segment of which is remembered what holds them. */
const rememberedPaths = 1000

/** Whether one path is the other or a prefix of it. */
function touches(a: Path, b: Path): boolean {
  return leadsTo(a, b) || leadsTo(b, a)
}
