/** Makes a fresh part of rows that small requests have written one by one. */
import type { RecordsEnvironment } from '../environment.ts'
import { type FreshSpan, partOf } from '../prepare/fresh-part.ts'
import type { SealTask } from '../prepare/prepare.ts'
import { RecordReader } from '../read/record-reader.ts'
import type { VersionedRow } from '../shred/shred-keys.ts'

/** The rows of these spans, but no tombstones; undefined when there are none. */
export function sealRows(
  records: RecordsEnvironment,
  { spans, memory }: Pick<SealTask, 'spans' | 'memory'>,
): SharedArrayBuffer | undefined {
  records.root.resetReadTxn()
  try {
    const rows = rowsOfSpans(new RecordReader(records), spans)
    return rows.length > 0 ? partOf(rows, memory) : undefined
  } finally {
    records.root.resetReadTxn()
  }
}

function rowsOfSpans(reader: RecordReader, spans: readonly FreshSpan[]): VersionedRow[] {
  const rows: VersionedRow[] = []
  for (const { object, after, through } of spans) {
    for (const { key, view } of reader.readDelta(object, after, through)) {
      if (!view.isTombstone) rows.push({ object, version: key, row: view })
    }
  }
  return rows
}
