/** Counts the rows of segments that flushes supersede, so that compaction knows when to take them out. */
import { compareRowKeys, type RowKey } from '../type/transaction.ts'
import type { KeyColumns } from '../vector/column.ts'
import { paginationKeyAt } from '../vector/row-keys.ts'
import type { ManifestSegment } from './manifest.ts'
import { isSupersededWhole } from './segment/metadata.ts'

export class SupersededCounts {
  readonly #segments: readonly ManifestSegment[]
  /** By object, the segments with current rows of it. */
  readonly #ofObjects = new Map<number, readonly CountedRange[]>()
  readonly #counts = new Map<number, number>()

  constructor(segments: readonly ManifestSegment[]) {
    this.#segments = segments
  }

  /**
   * Adds what rows with these keys supersede. A record that was written several times since the last flush
   * had one row before.
   */
  add(keys: KeyColumns): void {
    const { object, paginationTransaction, paginationIndex, transaction, index } = keys
    for (let row = 0; row < object.length; row++) {
      const first = paginationTransaction[row]!
      if (first === transaction[row] && paginationIndex[row] === index[row]) continue
      const isSame =
        row > 0 &&
        paginationTransaction[row - 1] === first &&
        paginationIndex[row - 1] === paginationIndex[row] &&
        object[row - 1] === object[row]
      if (!isSame) this.#count(object[row]!, paginationKeyAt(keys, row))
    }
  }

  /** The segments as they were, with what is counted by now. */
  counted(): ManifestSegment[] {
    return this.#segments.map((segment) => {
      const added = this.#counts.get(segment.id)
      return added ? { ...segment, superseded: (segment.superseded ?? 0) + added } : segment
    })
  }

  #count(object: number, key: RowKey): void {
    let ranges = this.#ofObjects.get(object)
    if (!ranges) {
      ranges = rangesOf(this.#segments, object)
      this.#ofObjects.set(object, ranges)
    }
    for (const { id, first, last } of ranges) {
      if (compareRowKeys(first, key) > 0 || compareRowKeys(last, key) < 0) continue
      this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1)
    }
  }
}

interface CountedRange {
  readonly id: number
  readonly first: RowKey
  readonly last: RowKey
}

function rangesOf(segments: readonly ManifestSegment[], object: number): CountedRange[] {
  return segments.flatMap(({ id, metadata }) => {
    if (isSupersededWhole(metadata)) return []
    const part = metadata.objects.find((each) => each.object === object)
    return part ? [{ id, first: part.firstPagination, last: part.lastPagination }] : []
  })
}
