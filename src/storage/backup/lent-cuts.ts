/** Values of rows whose bodies a cluster alone has, put together again of bodies that are lent. */
import { type RowKey, rowKey } from '../../type/transaction.ts'
import type { CheckedSince } from '../checked-since.ts'
import { objectOf, rowVersionKey } from '../record-key.ts'
import { EvictedVersions, evictedVersion } from '../row/evicted-row.ts'
import type { LentRows } from '../row/lent-rows.ts'
import type { RowView } from '../row/row.ts'
import { fullBlockBytes, packedBlock, RowBlock } from '../row/row-block.ts'
import type { CutRows, VersionRange } from './cut-rows.ts'
import { EntryListWriter, entriesOf } from './entry-list.ts'

/** Bodies that are asked of a cluster together. */
const evictedAtOnce = 200

/** Whether bodies of some rows of a value are missing. */
export function lacksBodies(key: Buffer, value: Buffer, since: CheckedSince | undefined): boolean {
  const block = new RowBlock(key, value, since)
  for (let place = 0; place < block.rowCount; place++) if (block.isEvicted(place)) return true
  return false
}

/**
 * The rows of such a value in the range, as blocks of usual size. Throws what `evictedError` makes at bodies that are not
 * lent, of `atOnce` rows at most.
 */
export function* lentCuts(
  key: Buffer,
  value: Buffer,
  { from, to }: VersionRange,
  since: CheckedSince | undefined,
  lent: LentRows,
  atOnce = evictedAtOnce,
): Generator<CutRows> {
  const object = objectOf(key)
  const block = new RowBlock(key, value, since)
  const evicted = new EvictedVersions()
  let versions: RowKey[] = []
  let rows: Buffer[] = []
  let bytes = 0
  const take = (): CutRows => {
    const first = rowVersionKey(object, versions[0]!)
    const packed = packedBlock(first, versions, rows)
    const cut = { key: first, value: packed, last: versions.at(-1)!, rows: rows.length, damaged: 0 }
    versions = []
    rows = []
    bytes = 0
    return cut
  }
  for (let place = block.placeOf(from); place < block.placeOf(to); place++) {
    const kept = block.rowAt(place)
    if (!kept) continue
    const version = block.versionAt(place)
    const view: RowView | undefined = kept.isEvicted ? lent.find(object, version) : kept
    if (!view) evicted.add(evictedVersion(object, version, kept))
    if (evicted.count === atOnce) break
    if (!view || evicted.count > 0) continue
    versions.push(version)
    rows.push(Buffer.from(view.bytes))
    bytes += view.bytes.length
    if (bytes >= fullBlockBytes) yield take()
  }
  if (rows.length > 0) yield take()
  evicted.throwIfAny()
}

const allVersions = { from: rowKey(0, 0), to: rowKey(2 ** 48 - 1, 0) }
const allChecked = { transaction: 0, run: 0 }

/**
 * The same list of values, with the bodies of those rows of which it has what another data directory keeps. Throws what
 * `evictedError` makes, with all that is missing.
 */
export function filledRows(list: Buffer, lent: LentRows): Buffer {
  const missing = new EvictedVersions()
  const filled = new EntryListWriter()
  for (const { key, value } of entriesOf(list)) {
    if (!lacksBodies(key, value, allChecked)) {
      filled.add(key, value)
      continue
    }
    const cuts = lentCuts(key, value, allVersions, allChecked, lent, Number.POSITIVE_INFINITY)
    for (const cut of missing.tried(() => [...cuts]) ?? []) filled.add(cut.key, cut.value)
  }
  missing.throwIfAny()
  return filled.take()
}
