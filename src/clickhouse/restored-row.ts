/** A row version as the row store has it, out of the columns of one that was exported. */
import { buildJsonRow } from '../storage/row/json-row.ts'
import type { RowBuilder } from '../storage/row/row-builder.ts'
import type { RowKey } from '../type/transaction.ts'

export interface ExportedRow {
  readonly object: number
  readonly version: string
  readonly pagination_key: string
  readonly transaction: string
  readonly previous: string
  readonly flags: number
  /** In microseconds since 1970. */
  readonly created: string
  readonly body: string
}

/** Appends the row; returns its version. */
export function writeRow(row: ExportedRow, builder: RowBuilder): RowKey {
  const previous = keyOf(row.previous)
  const header = {
    flags: row.flags,
    createdMs: Number(row.created) / 1000,
    paginationKey: keyOf(row.pagination_key),
    transaction: Number(row.transaction),
    previous: previous.transaction === 0 ? undefined : previous,
  }
  buildJsonRow(Buffer.from(row.body), header, builder)
  return keyOf(row.version)
}

function keyOf(number: string): RowKey {
  const value = BigInt(number)
  return { transaction: Number(value / 65_536n), index: Number(value % 65_536n) }
}
