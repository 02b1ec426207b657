/** Which rows of columns are superseded, by the marks of the row store. */
import { noteLong } from '../../json/turn-limit.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import type { KeyColumns } from '../../vector/column.ts'
import { comparePagination, lowerBound, paginationKeyAt } from '../../vector/row-keys.ts'
import type { ReadTransaction } from '../environment.ts'
import { isRecordDamage } from '../record-damage.ts'
import type { RecordReader } from './record-reader.ts'

/** A mark takes as long to read as so many bytes of a long value, or less. */
const markTurnBytes = 1024

/** Rows `from` to `to`, all of one object. */
export interface ObjectRange {
  readonly object: number
  readonly from: number
  readonly to: number
}

/**
 * Calls `found` for each row of the range that a transaction up to `through` superseded, in order.
 * Rows and marks both come in the order of pagination keys, so each is looked at once.
 *
 * @returns how many marks were looked at
 */
export function forEachSuperseded(
  keys: KeyColumns,
  { object, from, to }: ObjectRange,
  through: number,
  records: RecordReader,
  found: (row: number, supersededBy: number) => void,
  readTransaction?: ReadTransaction,
): number {
  if (from === to) return 0
  const first = paginationKeyAt(keys, from)
  const last = paginationKeyAt(keys, to - 1)
  let next = from
  let count = 0
  for (const mark of records.supersessions(object, first, last, through, readTransaction)) {
    const { paginationKey, version, transaction } = mark
    count++
    noteLong(markTurnBytes)
    if (comparePagination(keys, next, paginationKey) < 0) {
      next = lowerBound(keys, next + 1, to, paginationKey)
      if (next === to) break
    }
    for (let row = next; row < to; row++) {
      if (comparePagination(keys, row, paginationKey) !== 0) break
      if (keys.transaction[row] === version.transaction && keys.index[row] === version.index) {
        found(row, transaction)
      }
    }
  }
  return count
}

/** Of a request, what it takes to find its rows, in marks that could be read meanwhile. */
const marksPerRequest = 20

/**
 * As `forEachSuperseded`, of the rows that transactions after `after` superseded: by what these have written, in any order.
 *
 * @param most marks that could be read in the time that it may take
 * @returns false if it would take longer, or what was written cannot be read, and all has to be found anew
 */
export function forEachSupersededAfter(
  keys: KeyColumns,
  { object, from, to }: ObjectRange,
  after: number,
  through: number,
  most: number,
  records: RecordReader,
  found: (row: number) => void,
): boolean {
  if (from === to) return true
  return forEachVersionSuperseded(
    records,
    object,
    { after, through },
    most,
    (paginationKey, version) => {
      const row = rowOf(keys, from, to, paginationKey, version)
      if (row !== undefined) found(row)
    },
  )
}

/** Transactions after one and up to another, and the newest version that they are asked for. */
export interface SupersedingRange {
  readonly after: number
  readonly through: number
  /** A transaction. */
  readonly version: number
}

/**
 * Whether transactions of a range superseded a version that is not later than `version`. True, too, if it would take longer
 * than reading `most` marks to tell.
 */
export function mayHaveSuperseded(
  records: RecordReader,
  object: number,
  { after, through, version }: SupersedingRange,
  most: number,
): boolean {
  let has = false
  const isFound = forEachVersionSuperseded(
    records,
    object,
    { after, through },
    most,
    (_, { transaction }) => {
      has ||= transaction <= version
    },
  )
  return has || !isFound
}

/** As `forEachSupersededAfter`, with the keys of each version. */
function forEachVersionSuperseded(
  records: RecordReader,
  object: number,
  { after, through }: Pick<SupersedingRange, 'after' | 'through'>,
  most: number,
  found: (paginationKey: RowKey, version: RowKey) => void,
): boolean {
  if (records.lastSupersession(object) <= after) return true
  const requests: { readonly first: number; readonly last: number }[] = []
  let marks = 0
  for (const { first, transaction, objects } of records.log(after, through)) {
    const written = objects.find((each) => each.object === object)
    if (written && written.supersessions > 0) {
      requests.push({ first, last: transaction })
      marks += marksPerRequest + written.rows
    } else marks++
    if (marks > most) return false
  }
  try {
    for (const { first, last } of requests) {
      for (const { key, view } of records.keptDelta(object, first - 1, last)) {
        const { previous, paginationKey } = view
        // A record that begins anew names the deletion before, which nothing supersedes.
        if (previous && compareRowKeys(paginationKey, key) !== 0) found(paginationKey, previous)
      }
    }
  } catch (thrown) {
    if (isRecordDamage(thrown)) return false
    throw thrown
  }
  return true
}

function rowOf(
  keys: KeyColumns,
  from: number,
  to: number,
  paginationKey: RowKey,
  version: RowKey,
): number | undefined {
  for (let row = lowerBound(keys, from, to, paginationKey); row < to; row++) {
    if (comparePagination(keys, row, paginationKey) !== 0) return undefined
    if (keys.transaction[row] === version.transaction && keys.index[row] === version.index) {
      return row
    }
  }
  return undefined
}
