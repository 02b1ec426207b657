/**
 * Values of the database `rows` as far as their rows lie within a range of versions: a block may have rows of requests
 * before and after it.
 */
import type { RowKey } from '../../type/transaction.ts'
import type { CheckedSince } from '../checked-since.ts'
import { objectOf, rowVersionKey } from '../record-key.ts'
import type { RowView } from '../row/row.ts'
import { isChecked, packedBlock, RowBlock, singleRow } from '../row/row-block.ts'

/** Versions from `from` on and before `to`. */
export interface VersionRange {
  readonly from: RowKey
  readonly to: RowKey
}

export interface CutRows {
  readonly key: Buffer
  readonly value: Uint8Array
  /** Of the last row. */
  readonly last: RowKey
  /** Row versions in it, and those that cannot be read and are left out. */
  readonly rows: number
  readonly damaged: number
}

/**
 * The part of a value whose rows are in the range; undefined when none is. A value that lies within the range is given
 * as it is stored, unless it is of an older form that has no checksum.
 *
 * Throws STORAGE_CORRUPT when nothing is known of what is in the value.
 */
export function cutRows(
  key: Buffer,
  value: Buffer,
  { from, to }: VersionRange,
  since: CheckedSince | undefined,
): CutRows | undefined {
  const block = new RowBlock(key, value, since)
  const start = block.placeOf(from)
  const end = block.placeOf(to)
  if (start >= end) return undefined
  const last = block.versionAt(end - 1)
  if (start === 0 && end === block.rowCount && isChecked(value)) {
    let rows = 0
    for (let place = 0; place < end; place++) if (block.isWritten(place)) rows++
    return rows === 0 ? undefined : { key, value, last, rows, damaged: 0 }
  }
  const kept: { readonly version: RowKey; readonly bytes: Buffer }[] = []
  let damaged = 0
  for (let place = start; place < end; place++) {
    try {
      const view = block.rowAt(place)
      if (view) kept.push({ version: block.versionAt(place), bytes: Buffer.from(view.bytes) })
    } catch {
      damaged++
    }
  }
  const first = kept[0]
  if (!first)
    return damaged === 0 ? undefined : { key, value: Buffer.alloc(0), last, rows: 0, damaged }
  const newKey = rowVersionKey(objectOf(key), first.version)
  const cut =
    kept.length === 1
      ? singleRow(newKey, first.bytes)
      : packedBlock(
          newKey,
          kept.map(({ version }) => version),
          kept.map(({ bytes }) => bytes),
        )
  return { key: newKey, value: cut, last, rows: kept.length, damaged }
}

const allChecked = { transaction: 0 }

/** The rows of a value that came out of a backup, in the order of their versions. Throws STORAGE_CORRUPT at damage. */
export function* rowsOf(
  key: Buffer,
  value: Buffer,
): Generator<{ readonly version: RowKey; readonly view: RowView }> {
  const block = new RowBlock(key, value, allChecked)
  for (let place = 0; place < block.rowCount; place++) {
    const view = block.rowAt(place)
    if (view) yield { version: block.versionAt(place), view }
  }
}
