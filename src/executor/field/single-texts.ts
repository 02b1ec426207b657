/**
 * Elements of lists that have one text each, as `span_parents` mostly are, without reading the lists
 * as JSON: a million parents took a second and more, and take 60 ms so.
 */
import { expandBits } from '../../kernel/bitmap.ts'
import { newBytes } from '../../kernel/memory.ts'
import type { TextColumn } from '../../vector/column.ts'
import { textsBetween } from '../../vector/read-column.ts'
import { rowsOf, type Selection, type Vector } from '../../vector/vector.ts'

const [quote, backslash, opening, closing] = [0x22, 0x5c, 0x5b, 0x5d]

/** What stands around the text of such a list. */
const [head, tail] = [2, 2]

/**
 * The elements at `index` of the lists of rows `from … from + count`, null where there is no list;
 * undefined unless each list is one text without escapes.
 */
export function elementsOfSingleTexts(
  column: Exclude<TextColumn, { encoding: 'dictionary' }>,
  index: number,
  from: number,
  count: number,
  selection: Selection,
): Vector | undefined {
  const valid = newBytes(count).fill(1)
  if (column.validity) expandBits(column.validity, from, count, valid)
  const { texts, first } = textsBetween(column, from, count, selection)
  const { bytes, offsets } = texts
  const rows = rowsOf(selection, count)
  let length = 0
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!
    if (valid[row] === 0) continue
    const [start, end] = [offsets[first + row]!, offsets[first + row + 1]!]
    if (!isSingleText(bytes, start, end)) return undefined
    length += end - start - head - tail
  }
  if (index > 0) return { kind: 'constant', value: null }
  const found = Buffer.allocUnsafe(length)
  const ends = new Int32Array(count + 1)
  let [at, next] = [0, 0]
  for (let row = 0; row < count; row++) {
    const isSelected = rows[next] === row
    if (isSelected) next++
    if (isSelected && valid[row] === 1) {
      const [start, end] = [offsets[first + row]! + head, offsets[first + row + 1]! - tail]
      for (let i = start; i < end; i++) found[at++] = bytes[i]!
    }
    ends[row + 1] = at
  }
  return { kind: 'text', texts: { bytes: found, offsets: ends }, first: 0, valid }
}

function isSingleText(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < head + tail) return false
  if (bytes[start] !== opening || bytes[start + 1] !== quote) return false
  if (bytes[end - 1] !== closing || bytes[end - 2] !== quote) return false
  for (let i = start + head; i < end - tail; i++) {
    if (bytes[i] === quote || bytes[i] === backslash) return false
  }
  return true
}
