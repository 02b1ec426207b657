/** Makes a memtable of rows that small requests have written one by one. */
import type { RecordsEnvironment } from '../environment.ts'
import { type LogRange, memtableOf } from '../prepare/memtable.ts'
import type { SealTask } from '../prepare/prepare.ts'
import { RecordReader } from '../read/record-reader.ts'
import type { VersionedRow } from '../shred/shred-keys.ts'

/** The rows of these log ranges, but no tombstones; undefined when there are none. */
export function sealRows(
  records: RecordsEnvironment,
  { logRanges, memory }: Pick<SealTask, 'logRanges' | 'memory'>,
): SharedArrayBuffer | undefined {
  records.root.resetReadTxn()
  try {
    const rows = rowsOfRanges(new RecordReader(records), logRanges)
    return rows.length > 0 ? memtableOf(rows, memory) : undefined
  } finally {
    records.root.resetReadTxn()
  }
}

function rowsOfRanges(reader: RecordReader, logRanges: readonly LogRange[]): VersionedRow[] {
  const rows: VersionedRow[] = []
  for (const { object, after, through } of logRanges) {
    for (const { key, view } of reader.wholeDelta(object, after, through)) {
      if (!view.isTombstone) rows.push({ object, version: key, row: view })
    }
  }
  return rows
}
