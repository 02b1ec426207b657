/** Rows that `normal-row.ts` has read, written: as the text of usual ones, or as they are stored. */
import { randomUUID } from 'node:crypto'
import type { ByteWriter } from '../../json/byte-writer.ts'
import { formatTimestamp } from '../../type/time.ts'
import { rowActions } from '../row/prepared-rows.ts'
import { rowFlags } from '../row/row.ts'
import type { RowBuilder } from '../row/row-builder.ts'
import type { NormalRow } from './normal-row.ts'

const openBrace = 0x7b
const closeBrace = 0x7d
const comma = 0x2c
const noKey = { transaction: 0, index: 0 }

/**
 * Appends the row that `builder` has begun as the text of a usual one: its names are spelled as they are stored, none is
 * there twice, and beside its fields there are only its id, its time and whether it merges.
 */
export function writeUsual(
  { id, created, action }: NormalRow,
  builder: RowBuilder,
  out: ByteWriter,
) {
  const isMerge = action === rowActions.merge
  const { bytes } = builder.out
  out.byte(openBrace)
  if (id !== undefined) out.text(`"id":${JSON.stringify(id)},`)
  if (created) out.text(`"created":"${created.text}",`)
  out.text(`"_is_merge":${isMerge}`)
  for (const { start, end } of builder.kept(isMerge)) {
    out.byte(comma)
    out.copy(bytes, start, end)
  }
  out.byte(closeBrace)
}

/** The row of a deletion has nothing but the id. */
export function finishDeletion(id: string, nowMs: number, builder: RowBuilder): void {
  builder.restart()
  builder.text('id', JSON.stringify(id))
  builder.finish(headerOf(rowFlags.tombstone, nowMs))
}

/** The row of a comment has nothing but the list `comments` of it alone. */
export function finishComment(
  { created, comment }: NormalRow,
  id: string,
  nowMs: number,
  builder: RowBuilder,
): void {
  const time = created?.text ?? formatTimestamp(nowMs)
  builder.restart()
  builder.text(
    'comments',
    `[{"id":${JSON.stringify(id)},"created":"${time}","comment":${comment!.comment},` +
      `"source":${comment!.source},"metadata":${comment!.metadata}}]`,
  )
  builder.finish(headerOf(0, nowMs))
}

/** Ends a record that is too large to be taken by `kernel/row-scan.ts`, as that would. */
export function finishLarge(
  { created, action }: NormalRow,
  id: string,
  nowMs: number,
  builder: RowBuilder,
): void {
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
    builder.text('root_span_id', builder.out.bytes.toString('utf8', start, end))
  }
  const parents = builder.value('span_parents')
  builder.text('is_root', parents && parents.end - parents.start > 2 ? 'false' : 'true')
  builder.finish(headerOf(flags, created?.ms ?? nowMs), action === rowActions.merge)
}

function headerOf(flags: number, createdMs: number) {
  return { flags, createdMs, paginationKey: noKey, transaction: 0, previous: undefined }
}
