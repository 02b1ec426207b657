/** Rows of a request's block that are not the first versions of their records, as `row-block.ts` describes them. */
import type { RowKey } from '../../type/transaction.ts'
import { readRowKey, writeRowKey } from '../record-key.ts'

export const exceptionBytes = 20
const kinds = { follows: 1, absent: 2 } as const

const noKey: RowKey = { transaction: 0, index: 0 }

export interface RowException {
  /** Its place in the block. */
  readonly row: number
  /** Undefined for a row that was not written. */
  readonly keys:
    | { readonly paginationKey: RowKey; readonly previous: RowKey | undefined }
    | undefined
}

export function writeExceptions(
  exceptions: readonly RowException[],
  value: Buffer,
  start: number,
): void {
  exceptions.forEach(({ row, keys }, i) => {
    const at = start + i * exceptionBytes
    value.writeUInt16BE(row, at)
    value.writeUInt16BE((keys ? kinds.follows : kinds.absent) << 8, at + 2)
    writeRowKey(value, at + 4, keys?.paginationKey ?? noKey)
    writeRowKey(value, at + 12, keys?.previous ?? noKey)
  })
}

/** By place. Those of rows that were not written have no keys. */
export function readExceptions(
  value: Buffer,
  start: number,
  count: number,
): Map<number, RowException['keys']> {
  const exceptions = new Map<number, RowException['keys']>()
  for (let i = 0; i < count; i++) {
    const at = start + i * exceptionBytes
    const isAbsent = value[at + 2] === kinds.absent
    const keys = {
      paginationKey: readRowKey(value, at + 4),
      previous: previousOf(readRowKey(value, at + 12)),
    }
    exceptions.set(value.readUInt16BE(at), isAbsent ? undefined : keys)
  }
  return exceptions
}

/** The key of an earlier version; zeros stand for none. */
export function previousOf(key: RowKey): RowKey | undefined {
  return key.transaction === 0 ? undefined : key
}
