/** A row version as the row store has it, out of the columns of one that was exported. */
import { JsonScanner } from '../json/scan.ts'
import type { RowBuilder } from '../storage/row/row-builder.ts'
import { parseTimestamp } from '../type/time.ts'
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
  const body = Buffer.from(row.body)
  builder.begin()
  const scanner = new JsonScanner(body, 0, body.length)
  let created: number | undefined
  scanner.openObject()
  while (scanner.nextMember()) {
    const { keyStart, keyEnd } = scanner
    const start = scanner.value()
    const end = scanner.position
    builder.rawName(body.subarray(keyStart, keyEnd))
    builder.out.copy(body, start, end)
    builder.endValue()
    if (body.toString('utf8', keyStart, keyEnd) !== '"created"' || body[start] !== 0x22) continue
    created = parseTimestamp(body.toString('utf8', start + 1, end - 1))?.ms
  }
  const previous = keyOf(row.previous)
  builder.finish(
    {
      flags: row.flags,
      createdMs: created ?? Number(row.created) / 1000,
      paginationKey: keyOf(row.pagination_key),
      transaction: Number(row.transaction),
      previous: previous.transaction === 0 ? undefined : previous,
    },
    true,
  )
  return keyOf(row.version)
}

function keyOf(number: string): RowKey {
  const value = BigInt(number)
  return { transaction: Number(value / 65_536n), index: Number(value % 65_536n) }
}
