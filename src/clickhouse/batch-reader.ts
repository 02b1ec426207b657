/** Reads from the row store what a batch has. */
import type { ReadTransaction } from '../storage/environment.ts'
import type { RecordReader } from '../storage/read/record-reader.ts'
import type { RowView } from '../storage/row/row.ts'
import { compareRowKeys, type RowKey } from '../type/transaction.ts'
import { type Batch, type BatchPlace, endOfObjects, type Run } from './export-state.ts'
import { textOf } from './row-encoder.ts'
import { type ExportedVersion, VersionEncoder } from './version-encoder.ts'

/** A version that was sent before, and has to be marked as superseded. */
export interface Mark {
  readonly object: number
  readonly paginationKey: RowKey
  readonly version: RowKey
  readonly by: number
}

export interface EncodedBatch {
  readonly batch: Batch
  readonly rowCount: number
  /** Of RowBinary. */
  readonly bytes: Uint8Array
  readonly marks: readonly Mark[]
}

export interface BatchLimits {
  /** Of encoded rows, unless one has more. */
  readonly bytes: number
  readonly rows: number
}

export const defaultLimits: BatchLimits = { bytes: 32 * 2 ** 20, rows: 100_000 }

/** A range of transactions has so many bytes of rows, unless one has more: encoded they are mostly one batch. */
const rangeBytes = 8 * 2 ** 20

export interface BatchSource {
  readonly reader: RecordReader
  readonly transaction: ReadTransaction
  /** Objects whose rows are exported: the others were removed. */
  readonly isThere: (object: number) => boolean
}

/**
 * Encodes the rows of a batch; what it gives is gone with the next call. One without an end gets it where the limits are
 * reached, or behind its range.
 */
export function encodeBatch(
  { reader, transaction, isThere }: BatchSource,
  { from, to, begin, end }: Batch,
  run: Run,
  limits = defaultLimits,
): EncodedBatch {
  const encoder = new VersionEncoder((version) => traceOf(reader, version, transaction))
  const marks: Mark[] = []
  let rowCount = 0
  let reached = end ?? endOfObjects
  const isFull = () => encoder.length >= limits.bytes || rowCount >= limits.rows
  objects: for (const object of objectsOf(reader, from, to, transaction)) {
    if (object < begin.object || (end && object > end.object)) continue
    if (!isThere(object)) continue
    const first = object === begin.object ? begin.version : { transaction: from + 1, index: 0 }
    const lastSupersession = reader.lastSupersession(object, transaction)
    const after = { transaction: to + 1, index: 0 }
    const versions = reader.versionsBetween(object, first, after, transaction, encoder.memory)
    for (const { key, view } of versions) {
      if (end ? !isBefore({ object, version: key }, end) : rowCount > 0 && isFull()) {
        reached = { object, version: key }
        break objects
      }
      const by =
        lastSupersession >= view.transaction
          ? reader.supersededBy(object, view.paginationKey, key, transaction)
          : undefined
      encoder.add({ object, version: key, view, by })
      rowCount++
      const mark = markOf(object, key, view)
      if (mark && mark.version.transaction <= run.from) marks.push(mark)
    }
  }
  return {
    batch: { from, to, begin, end: reached },
    rowCount,
    bytes: encoder.finish(),
    marks,
  }
}

/** The first batch of a range, which may have all of it. */
export function firstBatch(from: number, to: number): Batch {
  const begin = { object: 0, version: { transaction: from + 1, index: 0 } }
  return { from, to, begin, end: undefined }
}

/** The end of the next range of transactions after `from`, and no further than `through`. */
export function endOfRange(
  reader: RecordReader,
  from: number,
  through: number,
  transaction: ReadTransaction,
  leastBytes = rangeBytes,
): number {
  let to = from
  let bytes = 0
  for (const entry of reader.log(from, through, transaction)) {
    to = entry.transaction
    for (const written of entry.objects) bytes += written.bytes
    if (bytes >= leastBytes) break
  }
  return to
}

/** Numbers of the objects that were written to after `from` and up to `to`, ascending. */
export function objectsOf(
  reader: RecordReader,
  from: number,
  to: number,
  transaction: ReadTransaction,
): number[] {
  const objects = new Set<number>()
  for (const entry of reader.log(from, to, transaction)) {
    for (const { object } of entry.objects) objects.add(object)
  }
  return [...objects].sort((a, b) => a - b)
}

/** Whatever took the place of another version ends that one. */
function markOf(object: number, key: RowKey, view: RowView): Mark | undefined {
  const { previous, paginationKey } = view
  // The first version of a record follows a deletion at most, which nothing ends.
  if (!previous || compareRowKeys(paginationKey, key) === 0) return undefined
  return { object, paginationKey, version: previous, by: view.transaction }
}

/** A deletion is kept with the version that it ends. */
export function traceOf(
  reader: RecordReader,
  { object, view }: Pick<ExportedVersion, 'object' | 'view'>,
  transaction: ReadTransaction,
): string {
  const own = textOf(view, 'root_span_id')
  if (own !== undefined || !view.previous) return own ?? ''
  const previous = reader.keptRowAt(object, view.previous, transaction)
  return (previous && textOf(previous, 'root_span_id')) ?? ''
}

function isBefore(a: BatchPlace, b: BatchPlace): boolean {
  return a.object < b.object || (a.object === b.object && compareRowKeys(a.version, b.version) < 0)
}
