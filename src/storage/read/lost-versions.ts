import type { ReadTransaction } from '../environment.ts'
import type { LostRows } from '../segment/lost-rows.ts'
import type { RecordReader, StoredVersion } from './record-reader.ts'

/** The row versions, in the order of their keys; without those that have been removed since. */
export function* lostVersions(
  reader: RecordReader,
  { object, transactions, indexes }: LostRows,
  transaction?: ReadTransaction,
): Generator<StoredVersion> {
  // What a transaction wrote mostly lies in one block.
  for (let from = 0; from < transactions.length; ) {
    const written = transactions[from]!
    let to = from + 1
    while (to < transactions.length && transactions[to] === written) to++
    for (const version of reader.readDelta(object, written - 1, written, transaction)) {
      const { index } = version.key
      while (from < to && indexes[from]! < index) from++
      if (from < to && indexes[from] === index) yield version
    }
    from = to
  }
}
