import { onTestFinished } from 'vitest'
import { closeSegments, openSegments } from '../../src/storage/environment.ts'
import type { RecordReader } from '../../src/storage/read/record-reader.ts'
import type { Manifest } from '../../src/storage/segment/manifest.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { compareRowKeys, type RowKey } from '../../src/type/transaction.ts'
import { textAt } from '../../src/vector/read-column.ts'

/** The segments of a data directory that a test made. */
export function temporarySegments(directory: string): SegmentStore {
  const environment = openSegments(directory, { readOnly: false })
  onTestFinished(() => closeSegments(environment))
  return new SegmentStore(environment)
}

/** A row version as a scan meets it. */
export interface ScannedRow {
  readonly object: number
  readonly pagination: RowKey
  readonly version: RowKey
  readonly id: string
}

/** All row versions of the manifest's segments, in the order of object, pagination key, version. */
export function rowsOfSegments(store: SegmentStore, manifest: Manifest): ScannedRow[] {
  const rows: ScannedRow[] = []
  for (const { id } of manifest.segments) {
    const set = store.open(id)
    const { keys } = set
    const text = set.columns(['id'])!.text!
    for (let row = 0; row < set.rowCount; row++) {
      rows.push({
        object: keys.object[row]!,
        pagination: {
          transaction: keys.paginationTransaction[row]!,
          index: keys.paginationIndex[row]!,
        },
        version: { transaction: keys.transaction[row]!, index: keys.index[row]! },
        id: textAt(text, row)!,
      })
    }
  }
  return rows.sort(
    (a, b) =>
      a.object - b.object ||
      compareRowKeys(a.pagination, b.pagination) ||
      compareRowKeys(a.version, b.version),
  )
}

/** What a query of the moment `snapshot` sees: rows of segments and delta, by the one rule. */
export function visibleAt(
  reader: RecordReader,
  store: SegmentStore,
  manifest: Manifest,
  snapshot: number,
  objects: readonly number[] = [1],
): string[] {
  const rows = rowsOfSegments(store, manifest)
  for (const object of objects) {
    for (const { key, view } of reader.readDelta(object, manifest.flushedThrough, snapshot)) {
      if (view.isTombstone) continue
      const id = JSON.parse(view.fieldText('id')!) as string
      rows.push({ object, pagination: view.paginationKey, version: key, id })
    }
  }
  const superseded = new Set<string>()
  const first = { transaction: 0, index: 0 }
  const last = { transaction: 2 ** 48 - 1, index: 0xffff }
  for (const object of objects) {
    for (const { version } of reader.supersessions(object, first, last, snapshot)) {
      superseded.add(nameOf(object, version))
    }
  }
  return rows
    .filter(({ object, version }) => {
      return version.transaction <= snapshot && !superseded.has(nameOf(object, version))
    })
    .map(({ object, id, version }) => `${nameOf(object, version)} ${id}`)
    .sort()
}

function nameOf(object: number, { transaction, index }: RowKey): string {
  return `${object}/${transaction}/${index}`
}
