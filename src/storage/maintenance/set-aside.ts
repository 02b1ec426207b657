/**
 * Keeps what is stored of damaged values in a file of its own, for whoever may make something of it, and takes damaged rows
 * out of the records, so that queries of their objects work again.
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import type { RecordDatabase, RecordsEnvironment } from '../environment.ts'
import { noteLogChange } from '../log-state.ts'
import { RecordReader } from '../read/record-reader.ts'
import type { RecordDamage } from '../record-damage.ts'
import { readRowKey, rowVersionKey, transactionKey } from '../record-key.ts'
import { decodeLogEntry, encodeLogEntry, endOfLog } from '../record-log.ts'
import { RowBlock, singleRow } from '../row/row-block.ts'
import type { TransactionSpan } from './find-lost-rows.ts'

/** Damage of rows, with the place of their value. */
export type DamagedRows = RecordDamage & { readonly object: number }

export function isOfRows(damage: RecordDamage): damage is DamagedRows {
  return damage.database === 'rows' && damage.key !== '' && damage.object !== undefined
}

/** Appends the values to the file, as a line of JSON each, which is on disk when this returns. */
export function keepAside(
  records: RecordsEnvironment,
  damaged: readonly RecordDamage[],
  path: string,
): void {
  const file = openSync(path, 'a', 0o600)
  try {
    for (const { database, key, what, object, versions } of damaged) {
      const value = storedValue(records, database, Buffer.from(key, 'hex'))
      const line = { database, key, what, object, versions, value: value?.toString('base64') }
      writeSync(file, `${JSON.stringify(line)}\n`)
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Whatever it is, damaged or not. */
function storedValue(
  records: RecordsEnvironment,
  database: RecordDamage['database'],
  key: Buffer,
): Buffer | undefined {
  if (database === 'rows') return records.rows.get(key)
  return checkedDatabase(records, database).stored.get(key)
}

/** Whether the value is there, and cannot be read: damage may be that of a key that is not in its place. */
export function isUnreadable(
  records: RecordsEnvironment,
  { database, key }: RecordDamage,
): boolean {
  // Rows that are missing have none.
  if (key === '') return false
  if (database === 'rows') return isAnyRowUnreadable(records, Buffer.from(key, 'hex'))
  const values = checkedDatabase(records, database)
  const bytes = Buffer.from(key, 'hex')
  return values.has(bytes) && values.getUnlessDamaged(bytes) === undefined
}

function isAnyRowUnreadable({ rows, checkedSince }: RecordsEnvironment, key: Buffer): boolean {
  const value = rows.get(key)
  if (!value) return false
  try {
    return new RowBlock(key, Buffer.from(value), checkedSince).damagedVersions().length > 0
  } catch {
    return true
  }
}

function checkedDatabase(
  records: RecordsEnvironment,
  database: Exclude<RecordDamage['database'], 'rows'>,
): RecordDatabase {
  return { ...records, id_runs: records.idRuns, field_paths: records.fieldPaths }[database]
}

/**
 * Replaces damaged values of rows, which `keepAside` has kept, by those of their rows that can be read. Returns between
 * which transactions rows are gone now, by object.
 */
export function setAside(
  records: RecordsEnvironment,
  damaged: readonly DamagedRows[],
): readonly (TransactionSpan & { readonly object: number })[] {
  const { root, rows, checkedSince } = records
  const gone = damaged.map(({ key, object }) => {
    const at = Buffer.from(key, 'hex')
    const first = readRowKey(at, 4).transaction
    return { object, first, last: Math.max(first, lastTransactionBefore(records, at, object)) }
  })
  root.transactionSync(() => {
    for (const { key: name, object } of damaged) {
      const key = Buffer.from(name, 'hex')
      const value = rows.get(key)
      if (!value) continue
      const readable = readableRows(key, Buffer.from(value), checkedSince)
      rows.removeSync(key)
      for (const { version, bytes } of readable) {
        const rowKey = rowVersionKey(object, version)
        rows.putSync(rowKey, singleRow(rowKey, bytes))
      }
    }
  })
  countAnew(records, gone)
  return gone
}

/** Where the rows of a value end at the latest: the next value of the object begins there. */
function lastTransactionBefore({ rows }: RecordsEnvironment, key: Buffer, object: number): number {
  const end = rowVersionKey(object + 1, { transaction: 0, index: 0 })
  for (const next of rows.getKeys({ start: key, end, exclusiveStart: true, limit: 1 })) {
    return readRowKey(next, 4).transaction
  }
  return 2 ** 48 - 1
}

function readableRows(
  key: Buffer,
  value: Buffer,
  checkedSince: RecordsEnvironment['checkedSince'],
) {
  let block: RowBlock
  try {
    block = new RowBlock(key, value, checkedSince)
  } catch {
    return []
  }
  const damaged = new Set(
    block.damagedVersions().map(({ transaction, index }) => `${transaction} ${index}`),
  )
  return Array.from({ length: block.rowCount }, (_, place) => place).flatMap((place) => {
    const version = block.versionAt(place)
    if (damaged.has(`${version.transaction} ${version.index}`)) return []
    const view = block.rowAt(place)
    return view ? [{ version, bytes: Buffer.from(view.bytes) }] : []
  })
}

/** Makes the log tell how many rows there are now, as what it tells more of is taken for missing. */
function countAnew(
  records: RecordsEnvironment,
  gone: readonly (TransactionSpan & { readonly object: number })[],
): void {
  const { root, log } = records
  const reader = new RecordReader(records)
  for (const { object, first, last } of gone) {
    const range = { start: transactionKey(first), end: endOfLog }
    // Entries that are damaged are made again, and count what is there.
    const entries = Array.from(log.getReadable(range, () => undefined))
    root.transactionSync(() => {
      for (const { key, value } of entries) {
        const entry = decodeLogEntry(key, value)
        if (entry.first > last) break
        const written = entry.objects.find((each) => each.object === object)
        if (!written) continue
        let count = 0
        for (const _ of reader.keptDelta(object, entry.first - 1, entry.transaction)) count++
        if (count === written.rows) continue
        const objects = entry.objects.map((each) =>
          each.object === object ? { ...each, rows: count } : each,
        )
        log.putSync(key, encodeLogEntry({ ...entry, objects }).value)
        noteLogChange(records)
      }
    })
  }
}
