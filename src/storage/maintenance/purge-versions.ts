/**
 * Removes chosen row versions for good: first out of the segments, which are written anew without them, and when nobody
 * reads older segments any more, out of the row store. Each transaction is short, and the oldest versions go first: a
 * version leads to those before it, so that what is left after a crash is found again.
 *
 * Runs of ids keep hashes of the ids until these are folded away (`fold-ids.ts`). The log tells how many rows of a request are left, so that who
 * has read a stretch of it before sees that it changed.
 */

import type { RowKey } from '../../type/transaction.ts'
import type { KeyColumns } from '../../vector/column.ts'
import type { RecordsEnvironment } from '../environment.ts'
import { noteGoneIds } from '../id/gone-ids.ts'
import { noteLogChange } from '../log-state.ts'
import { RecordReader } from '../read/record-reader.ts'
import { objectOf, rowVersionKey, supersessionKey, transactionKey } from '../record-key.ts'
import { decodeLogEntry, encodeLogEntry, endOfLog } from '../record-log.ts'
import { packedBlock, RowBlock } from '../row/row-block.ts'
import type { ManifestSegment } from '../segment/manifest.ts'
import type { SegmentLimits } from '../segment/segment-sink.ts'
import type { SegmentStore } from '../segment/segment-store.ts'
import { compact } from './compaction.ts'
import { foldIds } from './fold-ids.ts'
import { forgetPurges, type PurgedVersion, plannedVersions, readPurges } from './purge-plan.ts'
import { noteWipe } from './wipe-free.ts'

/** Blocks and rows that one transaction writes anew or removes: some ten milliseconds. */
const valuesPerTransaction = 8

type Planned = ReadonlyMap<number, readonly PurgedVersion[]>

interface Found {
  /** What was planned when it was found out. */
  readonly plan: string
  readonly planned: Planned
  /** By object, then transaction: the indexes of the versions. */
  readonly indexes: ReadonlyMap<number, ReadonlyMap<number, ReadonlySet<number>>>
  /** Segments that have none of them. */
  readonly without: Set<number>
}

/** By who purges: what is planned, which is found out once. */
const foundBy = new WeakMap<RecordsEnvironment, Found>()

function findPlanned(records: RecordsEnvironment): Found {
  records.root.resetReadTxn()
  const purges = readPurges(records.progress)
  const plan = JSON.stringify(purges)
  const known = foundBy.get(records)
  if (known?.plan === plan) return known
  const planned = plannedVersions(records, new RecordReader(records), purges)
  const found = { plan, planned, indexes: indexesOf(planned), without: new Set<number>() }
  foundBy.set(records, found)
  return found
}

function indexesOf(planned: Planned): Map<number, Map<number, Set<number>>> {
  const objects = new Map<number, Map<number, Set<number>>>()
  for (const [object, versions] of planned) {
    const transactions = new Map<number, Set<number>>()
    objects.set(object, transactions)
    for (const { version } of versions) {
      const indexes = transactions.get(version.transaction) ?? new Set<number>()
      transactions.set(version.transaction, indexes.add(version.index))
    }
  }
  return objects
}

/**
 * Writes one segment anew without the versions that are planned; false when none has any. All that was written before the
 * versions were chosen must be flushed.
 */
export function purgeSegments(
  records: RecordsEnvironment,
  store: SegmentStore,
  limits: SegmentLimits,
  checkpoint?: () => void,
): boolean {
  const found = findPlanned(records)
  const id = segmentWithPlanned(found, store)
  if (id === undefined) return false
  const withoutRows = (keys: KeyColumns, row: number) => isPlanned(found, keys, row)
  compact(records, store, [id], { limits, checkpoint, withoutRows })
  return true
}

function segmentWithPlanned(found: Found, store: SegmentStore): number | undefined {
  for (const segment of store.manifest().segments) {
    const { id } = segment
    if (found.without.has(id)) continue
    if (mayHold(segment, found.indexes) && holdsAny(store.open(id).keys, found)) return id
    found.without.add(id)
  }
  return undefined
}

function isPlanned({ indexes }: Found, keys: KeyColumns, row: number): boolean {
  const transactions = indexes.get(keys.object[row]!)
  return transactions?.get(keys.transaction[row]!)?.has(keys.index[row]!) === true
}

function mayHold({ metadata }: ManifestSegment, indexes: Found['indexes']): boolean {
  return metadata.objects.some(({ object }) => (indexes.get(object)?.size ?? 0) > 0)
}

function holdsAny(keys: KeyColumns, found: Found): boolean {
  for (let row = 0; row < keys.object.length; row++) if (isPlanned(found, keys, row)) return true
  return false
}

/**
 * Removes what the row store has of the versions that are planned, and the plan. No manifest that is read may name a segment
 * that has any of them. False when the newest one does, and nothing was done.
 */
export function purgePlannedRows(records: RecordsEnvironment, store: SegmentStore): boolean {
  const found = findPlanned(records)
  if (segmentWithPlanned(found, store) !== undefined) return false
  for (const [object, versions] of found.planned) removeVersions(records, object, versions)
  // The texts of ids leave with that.
  noteWipe(records, true)
  foldIds(records, { recentIds: 1, fanIn: 2 })
  forgetPurges(records)
  foundBy.delete(records)
  return true
}

interface Removed {
  /** By transaction, how many. */
  readonly rows: Map<number, number>
  /** How many of them deleted their record. */
  deletions: number
}

function removeVersions(
  records: RecordsEnvironment,
  object: number,
  versions: readonly PurgedVersion[],
): void {
  for (let from = 0; from < versions.length; ) {
    records.root.resetReadTxn()
    from = records.root.transactionSync(() => {
      let next = from
      const removed: Removed = { rows: new Map(), deletions: 0 }
      for (let i = 0; i < valuesPerTransaction && next < versions.length; i++) {
        next = removeFromValue(records, object, versions, next, removed)
      }
      for (const { version, paginationKey } of versions.slice(from, next)) {
        records.supersessions.removeSync(supersessionKey(object, paginationKey, version))
      }
      for (const [transaction, rows] of removed.rows) noteInLog(records, object, transaction, rows)
      if (removed.rows.size > 0) noteLogChange(records)
      noteGoneIds(records.progress, removed.deletions)
      return next
    })
  }
}

/** Takes rows off what the log says that the request with the transaction wrote. */
function noteInLog(
  { log }: Pick<RecordsEnvironment, 'log'>,
  object: number,
  transaction: number,
  rows: number,
): void {
  // A request of more rows than a transaction numbers has its entry under the last of its transactions.
  const range = { start: transactionKey(transaction), end: endOfLog, limit: 1 }
  for (const { key, value } of log.getRange(range)) {
    const entry = decodeLogEntry(key, value)
    if (entry.first > transaction) return
    const objects = entry.objects.map((each) => {
      return each.object === object ? { ...each, rows: Math.max(0, each.rows - rows) } : each
    })
    log.putSync(key, encodeLogEntry({ ...entry, objects }).value)
  }
}

/**
 * Removes the version with the number `from`, and those after it that stand in the same value.
 *
 * @param removed is told what they were
 * @returns the number of the version that comes next
 */
function removeFromValue(
  { rows, checkedSince }: RecordsEnvironment,
  object: number,
  versions: readonly PurgedVersion[],
  from: number,
  removed: Removed,
): number {
  const { version } = versions[from]!
  const key = keyOfValue({ rows }, object, version)
  const value = key && rows.get(key)
  if (!value) return from + 1
  const block = new RowBlock(key, Buffer.from(value), checkedSince)
  const gone = new Set<number>()
  let next = from
  while (next < versions.length) {
    const place = block.placeWith(versions[next]!.version)
    if (place === undefined) break
    gone.add(place)
    next++
  }
  if (next === from) return from + 1
  const kept: { readonly version: RowKey; readonly bytes: Uint8Array }[] = []
  let isAnyRemoved = false
  for (let place = 0; place < block.rowCount; place++) {
    const view = block.rowAt(place)
    if (!view) continue
    const at = block.versionAt(place)
    if (!gone.has(place)) {
      kept.push({ version: at, bytes: view.bytes })
      continue
    }
    isAnyRemoved = true
    removed.rows.set(at.transaction, (removed.rows.get(at.transaction) ?? 0) + 1)
    if (view.isTombstone) removed.deletions++
  }
  if (!isAnyRemoved) return next
  rows.removeSync(key)
  if (kept.length > 0) {
    const first = rowVersionKey(object, kept[0]!.version)
    const versionsLeft = kept.map(({ version }) => version)
    const bytes = kept.map(({ bytes }) => bytes)
    rows.putSync(first, packedBlock(first, versionsLeft, bytes))
  }
  return next
}

/** The key of the value that has the version, if any has. */
function keyOfValue(
  { rows }: Pick<RecordsEnvironment, 'rows'>,
  object: number,
  version: RowKey,
): Buffer | undefined {
  const start = rowVersionKey(object, version)
  for (const key of rows.getKeys({ start, reverse: true, limit: 1 })) {
    return objectOf(key) === object ? key : undefined
  }
  return undefined
}
