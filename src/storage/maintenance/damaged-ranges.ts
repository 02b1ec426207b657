/** Finds what cannot be read of the rows that a flush is to put into segments. */
import type { ReadTransaction, RecordsEnvironment } from '../environment.ts'
import type { LeftOut } from '../read/left-out.ts'
import { readRowKey, rowVersionKey } from '../record-key.ts'
import { RowBlock } from '../row/row-block.ts'

export interface DividedSpans {
  readonly readable: readonly LeftOut[]
  /** Transactions of which some rows cannot be read. */
  readonly damaged: readonly LeftOut[]
}

export function divideRanges(
  records: RecordsEnvironment,
  logRanges: readonly LeftOut[],
  transaction: ReadTransaction,
): DividedSpans {
  const readable: LeftOut[] = []
  const damaged: LeftOut[] = []
  for (const { object, after, through } of logRanges) {
    let end = after
    for (const range of damagedIn(records, { object, after, through }, transaction)) {
      const from = Math.max(end, range.after)
      const to = Math.min(through, range.through)
      if (to <= from) continue
      if (from > end) readable.push({ object, after: end, through: from })
      damaged.push({ object, after: from, through: to })
      end = to
    }
    if (through > end) readable.push({ object, after: end, through })
  }
  return { readable, damaged }
}

/** In order; they may overlap, and go beyond the log range. */
function* damagedIn(
  { rows, checkedSince }: RecordsEnvironment,
  { object, after, through }: LeftOut,
  transaction: ReadTransaction,
): Generator<Pick<LeftOut, 'after' | 'through'>> {
  const first = rowVersionKey(object, { transaction: after + 1, index: 0 })
  const lowest = rowVersionKey(object, { transaction: 0, index: 0 })
  // The value before may be a block that goes on.
  const [before] = rows.getKeys({ start: first, end: lowest, reverse: true, limit: 1, transaction })
  const end = rowVersionKey(object, { transaction: through + 1, index: 0 })
  let hidden: number | undefined
  for (const { key, value } of rows.getRange({ start: before ?? first, end, transaction })) {
    const own = readRowKey(key, 4).transaction
    // Nothing tells where a value ends that cannot be read at all, but that it does before the next.
    if (hidden !== undefined) yield { after: hidden - 1, through: own }
    hidden = undefined
    try {
      const damaged = new RowBlock(key, value, checkedSince).damagedVersions()
      const [from, to] = [damaged[0], damaged.at(-1)]
      if (from && to) yield { after: from.transaction - 1, through: to.transaction }
    } catch {
      hidden = own
    }
  }
  if (hidden !== undefined) yield { after: hidden - 1, through }
}
