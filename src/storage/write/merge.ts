/**
 * What a new row makes of its record's current version.
 *
 * A row that merges adds to that version: objects merge deeply, anything else replaces, and null
 * removes; `tags` become the union of both; `_merge_paths` say where to replace after all. A row
 * that replaces leaves nothing of it.
 *
 * Time and span are apart, because a record keeps its place: to a merge the first row's are dear, to
 * a replacement its own, and either takes what is given before what was generated.
 */
import { ByteWriter } from '../../json/byte-writer.ts'
import { formatTransaction } from '../../type/transaction.ts'
import { type RowView, rowFlags } from '../row/row.ts'
import type { RowBuilder } from '../row/row-builder.ts'
import { deleteElements, type JsonText, mergeJson, mergeStops, uniteArrays } from './merge-json.ts'
import { addPlace, placeFields } from './merge-place.ts'
import type { RowChange } from './row-change.ts'

/** Appends the version that the change makes, and returns where it starts. */
export function applyChange(change: RowChange, builder: RowBuilder): number {
  builder.begin()
  addFields(change, builder)
  addAudit(change, builder)
  const { createdMs, flags } = addPlace(change, builder)
  const merged = change.isMerge && change.base ? rowFlags.merged : 0
  return builder.finish({ ...change.keys, createdMs, flags: flags | merged })
}

/** Appends `base` with the elements of the `comments` of `patch` at the end of its own. */
export function addComment(
  base: RowView,
  patch: RowView,
  keys: RowChange['keys'],
  builder: RowBuilder,
): number {
  builder.begin()
  for (const { name, value } of base.fields()) {
    if (name !== 'comments') builder.copy(name, base.bytes, value.start, value.end)
  }
  const { start, end } = patch.field('comments')!
  builder.name('comments')
  addToArray(fieldOf(base, 'comments'), patch.bytes.subarray(start + 1, end), builder.out)
  builder.endValue()
  const flags = base.flags | rowFlags.merged
  return builder.finish({ ...keys, flags, createdMs: base.createdMs })
}

function addFields(change: RowChange, builder: RowBuilder): void {
  const { patch, isMerge, control } = change
  const base = isMerge ? change.base : undefined
  const stops = mergeStops(control.mergePaths ?? [])
  for (const { name, value } of base?.fields() ?? []) {
    if (isAddedLater(change, name)) continue
    const own = { bytes: base!.bytes, ...value }
    const given = patch.field(name)
    addField(change, builder, name, (out) => {
      if (!given) return out.copy(own.bytes, own.start, own.end)
      const stop = stops.below.get(name)
      const added = { bytes: patch.bytes, ...given }
      const isUnion = name === 'tags' && !stop?.stopsHere && isArray(own) && isArray(added)
      return isUnion ? uniteArrays(own, added, out) : mergeJson(own, added, stop, out)
    })
  }
  for (const { name, value } of patch.fields()) {
    if (isAddedLater(change, name)) continue
    if (base?.field(name)) continue
    addField(change, builder, name, (out) => out.copy(patch.bytes, value.start, value.end))
  }
}

function isAddedLater({ control }: RowChange, name: string): boolean {
  return placeFields.has(name) || (name === 'audit_data' && control.audit !== undefined)
}

/** Adds the member that `write` writes, less the elements that the row asks to delete. */
function addField(
  { control }: RowChange,
  builder: RowBuilder,
  name: string,
  write: (out: ByteWriter) => void,
): void {
  builder.name(name)
  const deletes = control.arrayDeletes?.filter(({ path }) => path[0] === name) ?? []
  if (deletes.length === 0) {
    write(builder.out)
  } else {
    const whole = new ByteWriter()
    write(whole)
    deleteElements({ bytes: whole.view(), start: 0, end: whole.length }, deletes, 1, builder.out)
  }
  builder.endValue()
}

/** Adds to `audit_data` who wrote the row, if it says so. */
function addAudit(change: RowChange, builder: RowBuilder): void {
  const { base, isMerge, control, keys } = change
  if (!control.audit) return
  const entry = Buffer.from(
    `{"_xact_id":"${formatTransaction(keys.transaction)}",` +
      `"audit_data":{"action":"${isMerge && base ? 'merge' : 'upsert'}"},` +
      `"metadata":${control.audit.metadata ?? '{}'},` +
      `"source":${JSON.stringify(control.audit.source ?? 'api')}}]`,
  )
  builder.name('audit_data')
  addToArray(currentField(change, 'audit_data'), entry, builder.out)
  builder.endValue()
}

/** Appends the array `array`, or an empty one, with the elements that end in `]` at its end. */
function addToArray(array: JsonText | undefined, elements: Uint8Array, out: ByteWriter): void {
  if (array && isArray(array) && array.end - array.start > 2) {
    out.copy(array.bytes, array.start, array.end - 1)
    out.byte(0x2c)
  } else {
    out.byte(0x5b)
  }
  out.copy(elements)
}

function currentField({ base, patch, isMerge }: RowChange, name: string): JsonText | undefined {
  return (isMerge && base && fieldOf(base, name)) || fieldOf(patch, name)
}

function fieldOf(row: RowView, name: string): JsonText | undefined {
  const span = row.field(name)
  return span && { bytes: row.bytes, ...span }
}

function isArray(text: JsonText): boolean {
  return text.bytes[text.start] === 0x5b
}
