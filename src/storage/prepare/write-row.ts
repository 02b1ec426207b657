/** Rows that were unusual, written: as the text of usual ones, or those that are no whole records as they are stored. */
import { randomUUID } from 'node:crypto'
import type { ByteWriter } from '../../json/byte-writer.ts'
import { JsonScanner } from '../../json/scan.ts'
import { formatTimestamp } from '../../type/time.ts'
import { writeJson } from '../../type/write-json.ts'
import { rowActions } from '../row/prepared-rows.ts'
import { rowFlags } from '../row/row.ts'
import type { RowBuilder } from '../row/row-builder.ts'
import type { NormalRow } from './normal-row.ts'

const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const comma = 0x2c
const colon = 0x3a
const noKey = { transaction: 0, index: 0 }

/** How long `writeUsual` makes a row of a request, about. */
export function usualLength({ fields }: NormalRow): number {
  return fields.reduce((sum, { stored, start, end }) => sum + stored.length + end - start + 2, 256)
}

/**
 * Appends a row of the request `bytes` as a usual one: its names are spelled as they are stored, none is there twice, and
 * what `NormalRow` tells besides its fields is not among them, but for its id, its time and whether it merges.
 */
export function writeUsual(row: NormalRow, bytes: Uint8Array, out: ByteWriter): void {
  out.byte(openBrace)
  if (row.id !== undefined) out.text(`"id":${JSON.stringify(row.id)},`)
  if (row.created) out.text(`"created":"${row.created.text}",`)
  out.text(`"_is_merge":${row.action === rowActions.merge}`)
  for (const { stored, start, end } of row.fields) {
    out.byte(comma)
    out.copy(stored)
    out.byte(colon)
    out.copy(bytes, start, end)
  }
  out.byte(closeBrace)
}

/** Builds the row of a deletion; it has nothing but the id. */
export function buildDeletion(id: string, nowMs: number, builder: RowBuilder): void {
  builder.begin()
  builder.text('id', JSON.stringify(id))
  builder.finish(headerOf(rowFlags.tombstone, nowMs))
}

/** Builds the row of a comment of the request `bytes`, which has nothing but the list `comments` of it alone. */
export function buildComment(
  { created, comment }: NormalRow,
  id: string,
  bytes: Uint8Array,
  nowMs: number,
  builder: RowBuilder,
): void {
  const { start, end, source, metadata } = comment!
  const time = created?.text ?? formatTimestamp(nowMs)
  const { out } = builder
  builder.begin()
  builder.name('comments')
  out.text(`[{"id":${JSON.stringify(id)},"created":"${time}","comment":`)
  new JsonScanner(bytes, start, end).value(out)
  out.text(`,"source":${writeJson(source)},"metadata":${String(metadata)}}]`)
  builder.endValue()
  builder.finish(headerOf(0, nowMs))
}

/** Builds a record of the request `bytes` that is too large for `kernel/row-scan.ts`, as that would. */
export function buildLargeRow(
  { created, fields, action }: NormalRow,
  id: string,
  bytes: Uint8Array,
  nowMs: number,
  builder: RowBuilder,
): void {
  builder.begin()
  for (const { stored, start, end } of fields) {
    builder.rawName(stored)
    // Nothing else has white space that means nothing.
    const isContainer = bytes[start] === openBrace || bytes[start] === openBracket
    if (isContainer) new JsonScanner(bytes, start, end).value(builder.out)
    else builder.out.copy(bytes, start, end)
    builder.endValue()
  }
  let flags = created ? 0 : rowFlags.createdGenerated
  builder.text('id', JSON.stringify(id))
  builder.text('created', `"${created?.text ?? formatTimestamp(nowMs)}"`)
  if (!builder.value('span_id')) {
    flags |= rowFlags.spanGenerated
    builder.text('span_id', `"${randomUUID()}"`)
  }
  if (!builder.value('root_span_id')) {
    flags |= rowFlags.rootGenerated
    const { start, end } = builder.value('span_id')!
    builder.copy(
      'root_span_id',
      Buffer.from(builder.out.bytes.subarray(start, end)),
      0,
      end - start,
    )
  }
  const parents = builder.value('span_parents')
  builder.text('is_root', parents && parents.end - parents.start > 2 ? 'false' : 'true')
  builder.finish(headerOf(flags, created?.ms ?? nowMs), action === rowActions.merge)
}

function headerOf(flags: number, createdMs: number) {
  return { flags, createdMs, paginationKey: noKey, transaction: 0, previous: undefined }
}
