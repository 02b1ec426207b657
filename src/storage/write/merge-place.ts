/**
 * The place of a record: its id, when it was made, and where it is in its trace.
 *
 * A merge takes it from the current version, a replacement from the new row; but either takes what
 * was given before what the server made up.
 */

import { type RowView, rowFlags } from '../row/row.ts'
import type { RowBuilder } from '../row/row-builder.ts'
import type { RowChange } from './row-change.ts'

/** The fields that `addPlace` adds. */
export const placeFields: ReadonlySet<string> = new Set([
  'id',
  'created',
  'span_id',
  'root_span_id',
  'span_parents',
  'is_root',
])

/** Adds the place of the version that the change makes, and returns what the header says of it. */
export function addPlace(
  change: RowChange,
  builder: RowBuilder,
): { readonly createdMs: number; readonly flags: number } {
  const { patch } = change
  const created = chooseRow(change, rowFlags.createdGenerated)
  const span = chooseRow(change, rowFlags.spanGenerated)
  const root = chooseRow(change, rowFlags.rootGenerated)
  const rootFlags = change.parent ? 0 : root.flags
  const flags =
    (created.flags & rowFlags.createdGenerated) |
    (span.flags & rowFlags.spanGenerated) |
    (rootFlags & rowFlags.rootGenerated)
  copyField(builder, 'id', patch)
  copyField(builder, 'created', created)
  copyField(builder, 'span_id', span)
  const parentId = change.parent?.fieldText('span_id')
  const parents = parentId === undefined ? chooseParents(change) : `[${parentId}]`
  // A root that was made up is the span itself, whichever row the span is from.
  const isMadeUp = (flags & rowFlags.rootGenerated) !== 0
  const rootId = isMadeUp
    ? span.fieldText('span_id')
    : (change.parent ?? root).fieldText('root_span_id')
  builder.text('root_span_id', rootId!)
  if (parents !== undefined) builder.text('span_parents', parents)
  builder.text('is_root', isEmpty(parents) ? 'true' : 'false')
  return { createdMs: created.createdMs, flags }
}

/** The row that gives what `generatedFlag` is about. */
function chooseRow({ base, patch, isMerge }: RowChange, generatedFlag: number): RowView {
  if (!base) return patch
  const [first, second] = isMerge ? [base, patch] : [patch, base]
  if ((first.flags & generatedFlag) === 0) return first
  return (second.flags & generatedFlag) === 0 ? second : base
}

/** Parents go with the span: a row that was told its span knows its parents, even if it has none. */
function chooseParents({ base, patch, isMerge }: RowChange): string | undefined {
  const [first, second] = isMerge && base ? [base, patch] : [patch, base]
  const isKnown = (first.flags & rowFlags.spanGenerated) === 0
  const parents = first.fieldText('span_parents')
  if (isKnown || !isEmpty(parents)) return parents
  return second?.fieldText('span_parents')
}

function isEmpty(parents: string | undefined): boolean {
  return parents === undefined || parents === 'null' || parents === '[]'
}

function copyField(builder: RowBuilder, name: string, row: RowView): void {
  const { start, end } = row.field(name)!
  builder.copy(name, row.bytes, start, end)
}
