/** Cuts the log into ranges of transactions that somebody reads one after the other. */
import type { RecordReader } from './record-reader.ts'

export interface RangeQuestion {
  /** Numbers of the objects whose rows are wanted. */
  readonly objects: ReadonlySet<number>
  /** Transactions after this one, and up to `through`. */
  readonly after: number
  readonly through: number
  /** Of the wanted row versions in a range; a transaction is not divided. */
  readonly mostRows: number
  /** A range has no transactions of two such periods, in seconds since 1970; infinite: of any. */
  readonly periodSeconds: number
  /** What was found of the range up to `after`. */
  readonly found?: Pick<WrittenRange, 'first' | 'rows'>
}

export interface WrittenRange {
  /** The first transaction that has wanted rows; undefined: none has. */
  readonly first: number | undefined
  /** Its wanted row versions. */
  readonly rows: number
  /** The last transaction that belongs to it, as far as was looked. */
  readonly through: number
  /** Whether it ends there; false: ask again, from there on. */
  readonly isWhole: boolean
}

/** Entries that are looked at in one call, which others wait for. */
const mostEntries = 5000

/** The next range, or its beginning. */
export function writtenRange(
  records: Pick<RecordReader, 'log'>,
  { objects, after, through, mostRows, periodSeconds, found }: RangeQuestion,
): WrittenRange {
  const periodOf = (transaction: number) => Math.floor(transaction / 0x10000 / periodSeconds)
  let first = found?.first
  let rows = found?.rows ?? 0
  let [last, looked] = [after, 0]
  for (const entry of records.log(after, through)) {
    let wanted = 0
    for (const write of entry.objects) if (objects.has(write.object)) wanted += write.rows
    if (wanted > 0 && first !== undefined) {
      const isFull = rows + wanted > mostRows
      const isLater = periodOf(entry.transaction) !== periodOf(first)
      if (isFull || isLater) return { first, rows, through: last, isWhole: true }
    }
    if (wanted > 0) first ??= entry.transaction
    rows += wanted
    last = entry.transaction
    if (++looked >= mostEntries) return { first, rows, through: last, isWhole: false }
  }
  return { first, rows, through, isWhole: true }
}
