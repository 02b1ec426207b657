/**
 * Takes back what was changed in a stored catalog after a time, by its trail of changes. The trail has all fields of an
 * entry but those that are never shown: a secret that was changed later stays as it was changed.
 */
import type { RecordsEnvironment } from '../storage/environment.ts'
import { parseExactJson } from '../type/exact-json.ts'
import type { AuditRecord } from './audit-trail.ts'
import type { Entries, EntryKind } from './entry.ts'
import { jsonBytes, rangeOf, type StoredEntry } from './entry-store.ts'
import { rulesOf } from './kind-rules.ts'

/** @param time in ms since 1970 */
export function undoChanges({ root, catalog }: RecordsEnvironment, time: number): void {
  root.transactionSync(() => {
    const later: { readonly key: Buffer; readonly record: AuditRecord }[] = []
    for (const { key, value } of catalog.getRange(rangeOf('audit/'))) {
      const record = parseExactJson(value.toString()) as AuditRecord
      if (Date.parse(record.created) >= time) later.push({ key, record })
    }
    later.sort((a, b) => (a.record.id < b.record.id ? 1 : -1))
    for (const { key, record } of later) {
      undo(catalog, record)
      catalog.removeSync(key)
      catalog.removeSync(Buffer.from(`audit_of/${record.entry_id}/${record.id}`))
    }
    // Of what is there again, nothing is to be removed; of the others nothing is left.
    for (const key of Array.from(catalog.getKeys(rangeOf('purge/')))) catalog.removeSync(key)
  })
  root.resetReadTxn()
}

/** Whether a stored catalog has an organization, without which there is nothing else. */
export function hasBegun({ catalog }: RecordsEnvironment): boolean {
  return catalog.getKeysCount({ ...rangeOf('organization/'), limit: 1 }) > 0
}

function undo(catalog: RecordsEnvironment['catalog'], record: AuditRecord): void {
  const { action, entry_type: kind, entry_id: id, before } = record
  const key = Buffer.from(`${kind}/${id}`)
  const removedKey = Buffer.from(`deleted/${kind}/${id}`)
  if (action === 'create') {
    catalog.removeSync(key)
    catalog.removeSync(removedKey)
    return
  }
  const value = catalog.get(action === 'delete' ? removedKey : key)
  // What was not written at its removal, as it lay in what was removed, is still there.
  if (!value) return
  const stored = parseExactJson(value.toString()) as StoredEntry<EntryKind>
  const entry = action === 'delete' ? whole(kind, stored, before) : { ...stored.entry, ...before }
  catalog.removeSync(removedKey)
  catalog.putSync(key, jsonBytes({ ...stored, entry }))
}

/** As it was before it was removed, which it has the time of since. */
function whole(
  kind: EntryKind,
  { entry }: StoredEntry<EntryKind>,
  before: AuditRecord['before'],
): Entries[EntryKind] {
  const hidden: readonly string[] = rulesOf(kind).hidden ?? []
  const kept = Object.entries(entry).filter(([field]) => hidden.includes(field))
  return { ...Object.fromEntries(kept), ...before } as unknown as Entries[EntryKind]
}
