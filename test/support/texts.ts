import type { Texts } from '../../src/vector/column.ts'

/** Texts as columns have them. */
export function textsOf(list: readonly string[]): Texts {
  const encoded = list.map((text) => Buffer.from(text))
  const offsets = new Int32Array(list.length + 1)
  for (const [i, bytes] of encoded.entries()) offsets[i + 1] = offsets[i]! + bytes.length
  return { bytes: Buffer.concat(encoded), offsets }
}
