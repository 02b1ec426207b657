/**
 * Which row versions are to be removed from disk for good. A plan is stored before anything of it is done, and goes in the
 * transaction after the last: a process that is killed in between goes on at the next start.
 */
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import type { ReadTransaction, RecordDatabase, RecordsEnvironment } from '../environment.ts'
import type { RecordReader } from '../read/record-reader.ts'
import { objectRange, readRowKey, transactionOf } from '../record-key.ts'

/** Row versions of one object. */
export type Purge =
  /** All versions of these records up to the one that deleted them; of one that was not deleted, none. */
  | { readonly kind: 'deleted'; readonly object: number; readonly ids: readonly string[] }
  /**
   * Versions that were superseded before the transaction, and deletions before it, of these records, or of all. The current
   * version of a record stays.
   */
  | {
      readonly kind: 'superseded'
      readonly object: number
      readonly before: number
      readonly ids?: readonly string[]
      /** Records all of whose versions stay. */
      readonly except?: readonly string[]
    }

/** A row version, and the record that it is of. */
export interface PurgedVersion {
  readonly version: RowKey
  readonly paginationKey: RowKey
}

const firstKey = Buffer.from('purge 0')
const endKey = Buffer.from('purge:')
const purgedPrefix = 'purged '
const endOfTime = 2 ** 48 - 1

/** What one plan removes of old versions, so that it is held in memory; the next plan finds what is left. */
const mostOldVersions = 200_000

/** Plans that are not carried out yet. */
export function readPurges(progress: RecordDatabase): Purge[] {
  const range = { start: firstKey, end: endKey }
  return Array.from(
    progress.getReadable(range, () => undefined),
    ({ value }) => {
      return JSON.parse(value.toString()) as Purge
    },
  )
}

export function notePurges({ root, progress }: RecordsEnvironment, purges: readonly Purge[]): void {
  root.transactionSync(() => {
    const known = [...progress.getKeys({ start: firstKey, end: endKey })]
    const numbers = known.map((key) => Number(key.toString().split(' ')[1]))
    const next = Math.max(0, ...numbers) + 1
    purges.forEach((purge, i) => {
      progress.putSync(Buffer.from(`purge ${next + i}`), Buffer.from(JSON.stringify(purge)))
    })
  })
}

/** To be called when all of them were carried out. */
export function forgetPurges({ root, progress }: RecordsEnvironment): void {
  root.transactionSync(() => {
    const objects = new Set(readPurges(progress).map(({ object }) => object))
    const number = 1 + Math.max(0, ...readPurged(progress, 0).map((each) => each.number))
    for (const object of objects) {
      progress.putSync(Buffer.from(`${purgedPrefix}${object}`), Buffer.from(String(number)))
    }
    for (const key of [...progress.getKeys({ start: firstKey, end: endKey })]) {
      progress.removeSync(key)
    }
  })
}

/** An object of which row versions were removed. */
export interface PurgedObject {
  readonly object: number
  /** Of the last time; each time has a greater one. */
  readonly number: number
}

/** Objects of which row versions were removed after the time with the number, for who has copies of them. */
export function readPurged(
  progress: RecordDatabase,
  after: number,
  transaction?: ReadTransaction,
): PurgedObject[] {
  const range = {
    start: Buffer.from(purgedPrefix),
    end: Buffer.from(`${purgedPrefix}:`),
    ...(transaction && { transaction }),
  }
  return Array.from(
    progress.getReadable(range, () => undefined),
    ({ key, value }) => {
      const object = Number(key.toString().slice(purgedPrefix.length))
      return { object, number: Number(value.toString()) }
    },
  ).filter(({ number }) => number > after)
}

/** The row versions of the plans, by object, each in the order of their keys. */
export function plannedVersions(
  records: RecordsEnvironment,
  reader: RecordReader,
  purges: readonly Purge[],
): ReadonlyMap<number, readonly PurgedVersion[]> {
  const planned = new Map<number, PurgedVersion[]>()
  for (const purge of purges) {
    const versions = planned.get(purge.object) ?? []
    planned.set(purge.object, versions)
    for (const version of versionsOf(records, reader, purge)) versions.push(version)
  }
  for (const [object, versions] of planned) {
    versions.sort((a, b) => compareRowKeys(a.version, b.version))
    const once = versions.filter(({ version }, i) => {
      const before = versions[i - 1]?.version
      return !before || compareRowKeys(before, version) < 0
    })
    planned.set(object, once)
  }
  return planned
}

function* versionsOf(
  records: RecordsEnvironment,
  reader: RecordReader,
  purge: Purge,
): Generator<PurgedVersion> {
  if (purge.kind === 'deleted') {
    for (const id of purge.ids) yield* deletedVersions(reader, purge.object, id, endOfTime)
  } else if (purge.ids) {
    for (const id of purge.ids) yield* olderVersions(reader, purge, id)
  } else yield* allOlderVersions(records, reader, purge)
}

/** The newest deletion before the transaction, and what was before it. */
function* deletedVersions(
  reader: RecordReader,
  object: number,
  id: string,
  before: number,
): Generator<PurgedVersion> {
  let isGone = false
  for (const { key: version, view } of reader.keptHistoryOf(object, id, endOfTime)) {
    isGone ||= view.isTombstone && view.transaction < before
    if (isGone) yield { version, paginationKey: view.paginationKey }
  }
}

function* olderVersions(
  reader: RecordReader,
  { object, before }: { readonly object: number; readonly before: number },
  id: string,
): Generator<PurgedVersion> {
  let next = endOfTime
  for (const { key: version, view } of reader.keptHistoryOf(object, id, endOfTime)) {
    const isOld = view.isTombstone ? view.transaction < before : next < before
    if (isOld) yield { version, paginationKey: view.paginationKey }
    next = view.transaction
  }
}

function* allOlderVersions(
  { supersessions }: RecordsEnvironment,
  reader: RecordReader,
  { object, before, except = [] }: Extract<Purge, { kind: 'superseded' }>,
): Generator<PurgedVersion> {
  const kept = recordsOf(reader, object, except)
  const found = new Set<string>()
  const transactions = new Set<number>()
  for (const { key, value } of supersessions.getRange(objectRange(object))) {
    const transaction = transactionOf(value)
    if (transaction >= before) continue
    const [paginationKey, version] = [readRowKey(key, 4), readRowKey(key, 12)]
    if (kept.has(nameOf(paginationKey))) continue
    if (found.size === mostOldVersions) break
    found.add(nameOf(version))
    transactions.add(transaction)
    yield { paginationKey, version }
  }
  yield* deletionsOf(reader, object, transactions, found)
}

/** Pagination keys of all records that ever had one of these ids, by their names. */
function recordsOf(
  reader: RecordReader,
  object: number,
  ids: readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>()
  for (const id of ids) {
    for (const { view } of reader.keptHistoryOf(object, id, endOfTime)) {
      found.add(nameOf(view.paginationKey))
    }
  }
  return found
}

/** The deletions among what superseded these versions: nothing supersedes a deletion. */
function* deletionsOf(
  reader: RecordReader,
  object: number,
  transactions: ReadonlySet<number>,
  superseded: ReadonlySet<string>,
): Generator<PurgedVersion> {
  for (const transaction of [...transactions].sort((a, b) => a - b)) {
    for (const { first } of reader.log(transaction - 1, transaction)) {
      for (const { key, view } of reader.keptDelta(object, first - 1, transaction)) {
        const { isTombstone, previous, paginationKey } = view
        if (!isTombstone || !previous || !superseded.has(nameOf(previous))) continue
        yield { version: key, paginationKey }
      }
    }
  }
}

function nameOf({ transaction, index }: RowKey): string {
  return `${transaction} ${index}`
}
