/** Builds rows as the row store keeps them, from JSON text. */
import { ByteWriter } from '../../src/json/byte-writer.ts'
import { JsonScanner } from '../../src/json/scan.ts'
import { RowView } from '../../src/storage/row/row.ts'
import { RowBuilder } from '../../src/storage/row/row-builder.ts'
import type { VersionedRow } from '../../src/storage/shred/shred-keys.ts'
import { parseTimestamp } from '../../src/type/time.ts'
import type { RowKey } from '../../src/type/transaction.ts'

export interface RowPlace {
  readonly object?: number
  readonly version?: RowKey
  readonly pagination?: RowKey
  readonly shownTransaction?: number
}

/** The row version that an insert of the JSON object `text` would leave. */
export function versionedRow(text: string, place: RowPlace = {}): VersionedRow {
  const version = place.version ?? { transaction: 1000, index: 0 }
  const out = new ByteWriter()
  const builder = new RowBuilder(out)
  const bytes = Buffer.from(text)
  const scanner = new JsonScanner(bytes)
  let createdMs = 0
  builder.begin()
  scanner.openObject()
  while (scanner.nextMember()) {
    const name = JSON.parse(bytes.toString('utf8', scanner.keyStart, scanner.keyEnd)) as string
    builder.name(name)
    const start = out.length
    scanner.value(out)
    builder.endValue()
    if (name === 'created') createdMs = parseTimestamp(JSON.parse(out.view(start).toString()))!.ms
  }
  builder.finish({
    flags: 0,
    createdMs,
    paginationKey: place.pagination ?? version,
    transaction: place.shownTransaction ?? version.transaction,
    previous: undefined,
  })
  return { object: place.object ?? 1, version, row: new RowView(Buffer.from(out.view())) }
}
