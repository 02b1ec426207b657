/**
 * The texts of lists that have one each, as `span_parents` mostly are, without reading the lists as
 * JSON: that took ten times as long.
 */

import { batchNumber, newBytes, noBatch } from '../../kernel/arena.ts'
import { expandBits } from '../../kernel/bitmap.ts'
import { singleTexts } from '../../kernel/texts.ts'
import type { Texts, UnnumberedColumn } from '../../vector/column.ts'
import { textsBetween } from '../../vector/read-column.ts'
import type { Selection, TextVector } from '../../vector/vector.ts'

/** The lists of a batch that were read last, as each of their elements is asked for by itself. */
interface ReadLists {
  readonly column: UnnumberedColumn
  readonly from: number
  readonly count: number
  readonly selection: Selection
  readonly batch: number
  readonly vector: TextVector | undefined
}

let last: ReadLists | undefined

/** The texts in the lists of rows `from … from + count`; undefined unless each list is one text without escapes. */
export function elementTexts(
  column: UnnumberedColumn,
  from: number,
  count: number,
  selection: Selection,
): TextVector | undefined {
  const batch = batchNumber()
  const isKnown = batch !== noBatch && last?.batch === batch && last.column === column
  if (isKnown && last!.from === from && last!.count === count && last!.selection === selection) {
    return last!.vector
  }
  const valid = newBytes(count).fill(0)
  if (column.validity) expandBits(column.validity, from, count, valid)
  else valid.fill(1)
  if (selection) keepOnly(selection, valid)
  const lists = textsBetween(column, from, count, selection)
  const texts = singleTexts(lists.texts, lists.first, valid)
  const vector: TextVector | undefined = texts && { kind: 'text', texts, first: 0, valid }
  last = { column, from, count, selection, batch, vector }
  return vector
}

/** Those of a dictionary's lists, for as long as the dictionary is kept. */
export function elementsOfEntries(lists: Texts): Texts | undefined {
  const texts = singleTexts(lists, 0, new Uint8Array(lists.offsets.length - 1).fill(1))
  return texts && { bytes: Buffer.from(texts.bytes), offsets: texts.offsets.slice() }
}

function keepOnly(selection: Int32Array, valid: Uint8Array): void {
  const all = valid.slice()
  valid.fill(0)
  for (let i = 0; i < selection.length; i++) valid[selection[i]!] = all[selection[i]!]!
}
