/** A row version out of its record as JSON, as `writeBody` of the export gives it: its members are stored as they stand. */
import { JsonScanner } from '../../json/scan.ts'
import { parseTimestamp } from '../../type/time.ts'
import type { RowHeader } from './row.ts'
import type { RowBuilder } from './row-builder.ts'

/** @param header where the body has no `created` of its own, it is that of the header */
export function buildJsonRow(body: Buffer, header: RowHeader, builder: RowBuilder): void {
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
  builder.finish({ ...header, createdMs: created ?? header.createdMs }, true)
}
