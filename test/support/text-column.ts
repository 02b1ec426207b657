import type { TextColumn } from '../../src/vector/column.ts'
import { elementsOf } from '../../src/vector/elements.ts'

/** A column whose row `i` has text `i`, in a dictionary of its own. */
export function textColumn(texts: readonly string[]): TextColumn {
  const parts = texts.map((text) => Buffer.from(text))
  const offsets = new Int32Array(texts.length + 1)
  for (const [i, part] of parts.entries()) offsets[i + 1] = offsets[i]! + part.length
  const dictionary = { bytes: Buffer.concat(parts), offsets }
  const codes = elementsOf(Int32Array.from(texts.keys()))
  return { encoding: 'dictionary', codes, dictionary, validity: undefined }
}
