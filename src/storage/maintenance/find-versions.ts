/** Finds records by any of their versions, however old and whatever became of it. */
import type { WireError } from '../../error.ts'
import { Edits } from '../../masking/edits.ts'
import type { Masker } from '../../masking/masker.ts'
import type { ObjectType } from '../../type/record.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import type { ReadTransaction, RecordsEnvironment } from '../environment.ts'
import { maskerOf, type RowMasking } from '../prepare/mask-body.ts'
import { AttachmentNames } from '../prepare/named-attachments.ts'
import { RecordReader } from '../read/record-reader.ts'
import { EvictedVersions, evictedVersion } from '../row/evicted-row.ts'
import { LentRows } from '../row/lent-rows.ts'
import type { RowView } from '../row/row.ts'

/** Which versions are meant. */
export type Sought =
  /** Those that have one of the texts as a value, or as the name of one. */
  | { readonly by: 'texts'; readonly texts: readonly string[] }
  /** Those of these records, and the attachments that they name. */
  | { readonly by: 'ids'; readonly ids: ReadonlySet<string> }
  /** Those that the first set of rules would change. */
  | { readonly by: 'masking'; readonly masking: RowMasking; readonly type: ObjectType }

export interface VersionQuestion {
  readonly kind: 'versions'
  /** The number of an object. */
  readonly object: number
  readonly sought: Sought
  /** Where to go on. */
  readonly from: RowKey
  /** No more is read, unless one row is larger. */
  readonly bytes: number
  /** Bodies that are not here: see `LentRows`. */
  readonly lent?: readonly SharedArrayBuffer[] | undefined
}

export interface FoundVersions {
  /** Of records one of whose versions is meant. */
  readonly ids: readonly string[]
  readonly versions: number
  /** Keys of attachments, of versions that are sought by their ids. */
  readonly attachments: readonly string[]
  /** That wrote versions that are sought by their ids. */
  readonly transactions: readonly number[]
  /** Where to go on; undefined at the end. */
  readonly next: RowKey | undefined
}

export type VersionAnswer = { readonly versions: FoundVersions } | { readonly error: WireError }

/** Bodies that are asked of a cluster together. */
const evictedAtOnce = 1000

type Test = (view: RowView, id: string) => boolean

const endOfTime: RowKey = { transaction: 2 ** 48 - 2, index: 0xffff }
const backslash = 0x5c

/** Throws what `evictedError` makes where it begins with bodies that are not here. */
export function findVersions(
  { object, sought, from, bytes, lent = [] }: VersionQuestion,
  records: RecordsEnvironment,
): FoundVersions {
  records.root.resetReadTxn()
  const transaction = records.root.useReadTransaction()
  try {
    const isMeant = testOf(sought)
    const ids = new Set<string>()
    const transactions = new Set<number>()
    const names = new AttachmentNames()
    let [versions, read] = [0, 0]
    const found = (next: RowKey | undefined): FoundVersions => {
      const attachments = names.list().flatMap(({ keys }) => keys)
      return { ids: [...ids], versions, attachments, transactions: [...transactions], next }
    }
    const bodies = LentRows.of(lent)
    const evicted = new EvictedVersions()
    const reader = new RecordReader(records)
    const mayBeMeant = keyTestOf(reader, object, sought, transaction)
    for (const { key, view: kept } of reader.keptBetween(object, from, endOfTime, transaction)) {
      if (read >= bytes && compareRowKeys(key, from) > 0 && evicted.count === 0) return found(key)
      if (!mayBeMeant(key, kept)) continue
      const view = kept.isEvicted ? bodies.find(object, key) : kept
      if (!view) {
        if (read > 0) return found(key)
        evicted.add(evictedVersion(object, key, kept))
        if (evicted.count === evictedAtOnce) break
      }
      if (!view || evicted.count > 0) continue
      read += view.bytes.length
      const id = idOf(view)
      if (!isMeant(view, id)) continue
      versions++
      ids.add(id)
      if (sought.by !== 'ids') continue
      names.add(ofAny, view.bytes)
      transactions.add(key.transaction)
    }
    evicted.throwIfAny()
    return found(undefined)
  } finally {
    transaction.done()
    records.root.resetReadTxn()
  }
}

function idOf(view: RowView): string {
  return JSON.parse(view.fieldText('id') ?? '""') as string
}

/** Tells what is not meant without its body, with which the id has left, too. */
function keyTestOf(
  reader: RecordReader,
  object: number,
  sought: Sought,
  transaction: ReadTransaction,
): (key: RowKey, kept: RowView) => boolean {
  if (sought.by !== 'ids') return () => true
  const { ids } = sought
  let ofIds: ReadonlySet<string> | undefined
  return (key, kept) => {
    if (!kept.isEvicted) return ids.has(idOf(kept))
    ofIds ??= versionsOf(reader, object, ids, transaction)
    return ofIds.has(nameOf(key))
  }
}

/** All versions of these records, by their names. */
function versionsOf(
  reader: RecordReader,
  object: number,
  ids: ReadonlySet<string>,
  transaction: ReadTransaction,
): ReadonlySet<string> {
  const versions = new Set<string>()
  for (const id of ids) {
    const history = reader.keptHistoryOf(object, id, endOfTime.transaction, transaction)
    for (const { key } of history) versions.add(nameOf(key))
  }
  return versions
}

function nameOf({ transaction, index }: RowKey): string {
  return `${transaction} ${index}`
}

/** What names an attachment does not matter. */
const ofAny = { type: 'project_logs', id: '' } as const

function testOf(sought: Sought): Test {
  switch (sought.by) {
    case 'ids':
      return (_, id) => sought.ids.has(id)
    case 'texts': {
      const wanted = new Set(sought.texts)
      const quick = sought.texts.map((text) => Buffer.from(text))
      return (view) => hasAny(view, wanted, quick)
    }
    case 'masking': {
      const masker = maskerOf(sought.masking, 0)
      return (view) => isChanged(view, masker, sought.type === 'dataset')
    }
  }
}

function hasAny(view: RowView, wanted: ReadonlySet<string>, quick: readonly Buffer[]): boolean {
  const { bytes } = view
  for (let i = 0; i < view.fieldCount; i++) {
    const { start, end } = view.valueAt(i)
    const text = bytes.subarray(start, end)
    // What has escapes may spell the text in another way.
    if (!text.includes(backslash) && !quick.some((one) => text.includes(one))) continue
    if (hasValue(JSON.parse(text.toString()), wanted)) return true
  }
  return false
}

function hasValue(value: unknown, wanted: ReadonlySet<string>): boolean {
  const open: unknown[] = [value]
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (
      typeof one === 'string' ? wanted.has(one) : typeof one === 'number' && wanted.has(`${one}`)
    ) {
      return true
    }
    if (typeof one !== 'object' || one === null) continue
    if (Object.keys(one).some((name) => wanted.has(name))) return true
    open.push(...Object.values(one))
  }
  return false
}

function isChanged(view: RowView, masker: Masker, isOfDataset: boolean): boolean {
  const members: Buffer[] = []
  for (let i = 0; i < view.fieldCount; i++) {
    const start = view.memberStart(i)
    const end = start + view.nameLength(i) + 1 + view.valueLength(i)
    members.push(Buffer.from(members.length === 0 ? '{' : ','), view.bytes.subarray(start, end))
  }
  const row = Buffer.concat([...members, Buffer.from(members.length === 0 ? '{}' : '}')])
  const edits = new Edits()
  masker.begin(row, edits)
  masker.row(0, isOfDataset)
  masker.end()
  return edits.length > 0
}
