/** Values on their way between threads: texts as bytes, which are neither decoded nor copied. */
import { fromPlain, type PlainValue, toPlain } from '../type/plain.ts'
import type { Value } from '../type/value.ts'
import type { GrowingTexts } from '../vector/text-index.ts'
import type { TextVector, ValuesVector } from '../vector/vector.ts'

export type WireValues =
  | {
      readonly kind: 'texts'
      readonly bytes: Uint8Array
      readonly offsets: Int32Array
      /** 0 where the value is null. */
      readonly valid: Uint8Array
    }
  | { readonly kind: 'plain'; readonly values: readonly PlainValue[] }

export function wireValues(values: readonly Value[]): WireValues {
  return { kind: 'plain', values: values.map(toPlain) }
}

/** The texts of these indexes, -1 being null. */
export function wireTexts(source: GrowingTexts, indexes: Int32Array): WireValues {
  const offsets = new Int32Array(indexes.length + 1)
  const valid = new Uint8Array(indexes.length)
  let total = 0
  for (let i = 0; i < indexes.length; i++) {
    const index = indexes[i]!
    if (index >= 0) {
      valid[i] = 1
      total += source.offsets[index + 1]! - source.offsets[index]!
    }
    offsets[i + 1] = total
  }
  const bytes = new Uint8Array(total)
  for (let i = 0; i < indexes.length; i++) {
    const index = indexes[i]!
    if (index < 0) continue
    const [start, end] = [source.offsets[index]!, source.offsets[index + 1]!]
    const at = offsets[i]!
    // A loop beats the view that `set` would need: texts are short.
    for (let k = start; k < end; k++) bytes[at + k - start] = source.bytes[k]!
  }
  return { kind: 'texts', bytes, offsets, valid }
}

/** The values as a vector with one row each. */
export function vectorOf(wire: WireValues): TextVector | ValuesVector {
  if (wire.kind === 'plain') return { kind: 'values', values: wire.values.map(fromPlain) }
  const { bytes, offsets, valid } = wire
  // Between threads a Buffer becomes a plain Uint8Array.
  const texts = { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), offsets }
  return { kind: 'text', texts, first: 0, valid }
}

export function countOf(wire: WireValues): number {
  return wire.kind === 'plain' ? wire.values.length : wire.valid.length
}
