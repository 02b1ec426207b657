/** Takes over what another data directory has committed, so that queries see it as if it had been inserted here. */
import type { CopiedIds, CopiedRecords } from '../storage/backup/copy-records.ts'
import { entriesOf } from '../storage/backup/entry-list.ts'
import { decodeLogEntry, endOfLog, type LogEntry } from '../storage/record-log.ts'
import type { RecordWriterThread } from './insert/record-writer-thread.ts'
import type { FreshRows } from './maintenance/fresh-rows.ts'
import type { Maintenance } from './maintenance/maintenance.ts'
import type { Queries } from './queries.ts'
import type { QueryPlans } from './query-plans.ts'
import type { WriteWatch } from './write-watch.ts'

export interface CopiedRecordsParts {
  readonly writer: RecordWriterThread
  readonly fresh: FreshRows
  readonly plans: QueryPlans
  readonly queries: Queries
  readonly writes: WriteWatch
  readonly maintenance: Pick<Maintenance, 'noteWrite'>
}

/**
 * Writes what was committed behind the last transaction that is here; it is on disk, and seen by queries, when this
 * resolves. Nobody inserts beside that.
 */
export async function copyRecords(parts: CopiedRecordsParts, copied: CopiedRecords): Promise<void> {
  let ids = await parts.writer.copy(copied)
  for (const { key, value } of entriesOf(copied.log)) {
    if (key[0] === endOfLog[0]) continue
    publish(parts, decodeLogEntry(key, value), ids)
    // The rows of all transactions are there with the first: what is cached of them is forgotten once.
    ids = []
  }
}

function publish(parts: CopiedRecordsParts, entry: LogEntry, ids: CopiedIds): void {
  const { fresh, plans, queries, writes, maintenance } = parts
  const newFields = entry.objects.map(({ object }) => object)
  const written = { ...entry, transactions: [entry.transaction], unchanged: [], newFields }
  plans.forgetFieldsOf(newFields)
  fresh.add(written, [], [])
  queries.noteCopy(written, ids)
  writes.note(entry.objects, [])
  for (const { rows, bytes } of entry.objects) maintenance.noteWrite({ rows, bytes })
}
