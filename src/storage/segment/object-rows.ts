/** Finds which rows of a segment belong to which object, and the bounds of their keys. */
import type { ColumnSet } from '../../vector/column.ts'
import { isValid } from '../../vector/read-column.ts'
import { paginationKeyAt } from '../../vector/row-keys.ts'
import { objectRuns } from '../shred/shred-keys.ts'
import { leafUsage } from './leaf-usage.ts'
import type { ObjectRows } from './metadata.ts'

export function objectRows(set: ColumnSet): ObjectRows[] {
  const { keys } = set
  const isUsageOfLeaves = leafUsage(set)
  const created = set.columns(['created'])?.timestamp
  return objectRuns(keys.object).map(({ from, to }) => {
    let firstTransaction = Number.POSITIVE_INFINITY
    let lastTransaction = 0
    let firstCreated: number | null = null
    let lastCreated: number | null = null
    for (let row = from; row < to; row++) {
      firstTransaction = Math.min(firstTransaction, keys.transaction[row]!)
      lastTransaction = Math.max(lastTransaction, keys.transaction[row]!)
      if (created === undefined || !isValid(created.validity, row)) continue
      const ms = created.values.at(row)
      if (firstCreated === null || ms < firstCreated) firstCreated = ms
      if (lastCreated === null || ms > lastCreated) lastCreated = ms
    }
    return {
      object: keys.object[from]!,
      from,
      to,
      firstPagination: paginationKeyAt(keys, from),
      lastPagination: paginationKeyAt(keys, to - 1),
      firstTransaction,
      lastTransaction,
      firstCreated,
      lastCreated,
      ...(isUsageOfLeaves(from, to) && { isUsageOfLeaves: true }),
    }
  })
}
