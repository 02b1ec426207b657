/** A row version as one entry of its record's history: what it is, with what the write did. */
import { ByteWriter } from '../../json/byte-writer.ts'
import { isJsonObject, parseExactJson, writeExactJson } from '../../type/exact-json.ts'
import { formatTimestamp } from '../../type/time.ts'
import { formatTransaction } from '../../type/transaction.ts'
import { RowView, rowFlags } from './row.ts'
import { RowBuilder } from './row-builder.ts'

/**
 * The row with `audit_data` as `{"action", "source"?, "metadata"?}` of the write that made it. The
 * actions are `upsert`, `merge` and `delete`; of a deletion there is only the id, and when it was.
 */
export function historyRow(row: RowView): RowView {
  const builder = new RowBuilder(new ByteWriter(row.bytes.length + 256))
  builder.begin()
  for (const { name, value } of row.fields()) {
    if (name !== 'audit_data') builder.copy(name, row.bytes, value.start, value.end)
  }
  if (row.isTombstone) builder.text('created', `"${formatTimestamp(row.createdMs)}"`)
  builder.text('audit_data', writeExactJson({ action: actionOf(row), ...saidOf(row) }))
  const { createdMs, flags, paginationKey, transaction, previous } = row
  builder.finish({ createdMs, flags, paginationKey, transaction, previous })
  return new RowView(builder.out.view())
}

function actionOf({ isTombstone, flags }: RowView): string {
  if (isTombstone) return 'delete'
  return (flags & rowFlags.merged) === 0 ? 'upsert' : 'merge'
}

/** What whoever wrote the version said about it. */
function saidOf(row: RowView): object {
  const text = row.fieldText('audit_data')
  const entries = text === undefined ? undefined : parseExactJson(text)
  if (!Array.isArray(entries)) return {}
  const own = formatTransaction(row.transaction)
  const entry = entries.filter(isJsonObject).findLast(({ _xact_id }) => _xact_id === own)
  return entry ? { source: entry.source ?? null, metadata: entry.metadata ?? null } : {}
}
