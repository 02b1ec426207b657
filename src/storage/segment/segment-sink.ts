/** Makes segments of rows, which come in the order of their objects, or of columns. */
import type { KeyColumns } from '../../vector/column.ts'
import type { ColumnTable } from '../../vector/column-table.ts'
import { shred } from '../shred/shred.ts'
import type { VersionedRow } from '../shred/shred-keys.ts'
import type { Manifest, ManifestSegment } from './manifest.ts'
import { manifestSegment, type NewSegment, type SegmentStore } from './segment-store.ts'
import { writeSegment } from './writer.ts'

/** What a full segment has: as many rows, or as many bytes of rows. */
export interface SegmentLimits {
  readonly rows: number
  readonly rowBytes: number
}

export const defaultLimits: SegmentLimits = { rows: 262_144, rowBytes: 256 * 2 ** 20 }

/**
 * Holds no more than one segment's rows and bytes at a time. All segments but the last are stored at
 * once, as leftovers until a manifest names them; `finish` hands the last over to be committed
 * together with the manifest.
 */
export class SegmentSink {
  readonly #store: SegmentStore
  readonly #limits: SegmentLimits
  readonly #written: ManifestSegment[] = []
  readonly #currentThrough: ((keys: KeyColumns) => number | undefined) | undefined
  #nextSegment: number
  #rows: VersionedRow[] = []
  #rowBytes = 0
  #last: NewSegment | undefined

  /** @param currentThrough of segments with these keys; see `SegmentMetadata` */
  constructor(
    store: SegmentStore,
    { nextSegment }: Manifest,
    limits: SegmentLimits,
    currentThrough?: (keys: KeyColumns) => number | undefined,
  ) {
    this.#store = store
    this.#limits = limits
    this.#currentThrough = currentThrough
    // A segment is never overwritten: a query may still read the leftover of an earlier step.
    this.#nextSegment = Math.max(nextSegment, 1 + Math.max(0, ...store.storedIds()))
  }

  add(row: VersionedRow): void {
    const { length } = row.row.bytes
    if (
      this.#rows.length === this.#limits.rows ||
      (this.#rows.length > 0 && this.#rowBytes + length > this.#limits.rowBytes)
    ) {
      this.#close()
    }
    this.#rows.push(row)
    this.#rowBytes += length
  }

  /**
   * Makes one segment, of columns that rows of `rowBytes` bytes were shredded to.
   *
   * @param currentThrough see `SegmentMetadata`
   */
  addTable(
    table: ColumnTable,
    rowBytes: number,
    currentThrough = this.#currentThrough?.(table.keys),
  ): void {
    if (this.#last !== undefined) this.#store.write(this.#last)
    this.#last = undefined
    this.#last = { id: this.#nextSegment++, ...writeSegment(table, rowBytes, currentThrough) }
    this.#written.push(manifestSegment(this.#last))
  }

  finish(): {
    readonly segments: readonly ManifestSegment[]
    readonly nextSegment: number
    readonly last: NewSegment | undefined
  } {
    this.#close()
    return { segments: this.#written, nextSegment: this.#nextSegment, last: this.#last }
  }

  /** Removes what was stored, in place of `finish`. */
  discard(): void {
    const stored = this.#written.filter(({ id }) => id !== this.#last?.id)
    if (stored.length > 0) this.#store.remove(stored.map(({ id }) => id))
  }

  #close(): void {
    if (this.#rows.length === 0) return
    const table = shred(this.#rows)
    const rowBytes = this.#rowBytes
    this.#rows = []
    this.#rowBytes = 0
    this.addTable(table, rowBytes)
  }
}
