/** Comparisons of texts with constants, without decoding the texts. */
import type { BoundExpression } from '../binder/bound.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { lowerAscii, textContains, textEquals } from '../kernel/text.ts'
import { compileLike, type LikePattern, parseLike } from '../type/like.ts'
import { type TextVector, unknown, type Vector } from '../vector/vector.ts'
import type { Batch } from './batch.ts'

export type TextOperator = (left: Vector, right: Vector, batch: Batch) => Vector | undefined

/** Undefined when the node is none that texts have a faster way for. */
export function compileText(node: BoundExpression): TextOperator | undefined {
  switch (node.kind) {
    case 'comparison': {
      if (node.operator !== 'eq' && node.operator !== 'ne') return undefined
      const negate = node.operator === 'ne'
      return (left, right, { rowCount }) => {
        const [text, constant] = left.kind === 'text' ? [left, right] : [right, left]
        if (text.kind !== 'text' || constant.kind !== 'constant') return undefined
        if (typeof constant.value !== 'string') return undefined
        const out = new Uint8Array(rowCount)
        textEquals(text.texts, text.first, rowCount, Buffer.from(constant.value), out)
        if (negate) for (let i = 0; i < rowCount; i++) out[i] = 1 - out[i]!
        return withNulls(text, out)
      }
    }
    case 'like': {
      const search = new LikeSearch(node.caseInsensitive)
      return (left, right, { rowCount }) => {
        if (left.kind !== 'text' || right.kind !== 'constant') return undefined
        if (typeof right.value !== 'string') return undefined
        return withNulls(left, search.run(left, right.value, rowCount))
      }
    }
    case 'in': {
      let sets = new Map<unknown, ReadonlySet<string>>()
      return (left, right, { rowCount }) => {
        if (left.kind !== 'text' || right.kind !== 'constant') return undefined
        const list = right.value
        if (!Array.isArray(list) || !list.every((item) => typeof item === 'string'))
          return undefined
        let set = sets.get(list)
        if (!set) {
          set = new Set(list)
          sets = new Map([[list, set]])
        }
        const out = new Uint8Array(rowCount)
        const { bytes, offsets } = left.texts
        for (let i = 0; i < rowCount; i++) {
          const at = left.first + i
          out[i] = set.has(decodeUtf8(bytes, offsets[at]!, offsets[at + 1]!)) ? 1 : 0
        }
        return withNulls(left, out)
      }
    }
    default:
      return undefined
  }
}

function withNulls({ valid }: TextVector, values: Uint8Array): Vector {
  if (valid) {
    for (let i = 0; i < values.length; i++) if (valid[i] === 0) values[i] = unknown
  }
  return { kind: 'boolean', values }
}

/** The two characters beyond ASCII whose lower case holds an ASCII letter: K (Kelvin) and İ. */
const kelvinSign = Buffer.from('\u212a')
const dottedCapitalI = Buffer.from('\u0130')

/**
 * Runs LIKE over texts. A native search for the pattern's needle finds the rows that may match; only
 * those are decoded, and not even they when the needle is all there is to the pattern.
 */
class LikeSearch {
  readonly #caseInsensitive: boolean
  #text: string | undefined
  #pattern: LikePattern | undefined
  #matches: (text: string) => boolean = () => false

  constructor(caseInsensitive: boolean) {
    this.#caseInsensitive = caseInsensitive
  }

  run(vector: TextVector, text: string, rowCount: number): Uint8Array {
    if (this.#text !== text) {
      this.#text = text
      this.#pattern = parseLike(text, this.#caseInsensitive)
      this.#matches = compileLike(text, this.#caseInsensitive)
    }
    const pattern = this.#pattern!
    const out = new Uint8Array(rowCount)
    const needle = Buffer.from(pattern.needle)
    const { texts, first } = vector
    const { bytes, offsets } = texts
    if (needle.length === 0) {
      this.#decodeRows(vector, rowCount, out)
      return out
    }
    if (!this.#caseInsensitive) {
      textContains(texts, first, rowCount, needle, out)
      if (pattern.kind !== 'contains') this.#confirm(vector, rowCount, out)
      return out
    }
    // Lower-casing ASCII only is exact for an ASCII needle, but for the two characters above.
    const [start, end] = [offsets[first]!, offsets[first + rowCount]!]
    const region = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
    const folded = Buffer.allocUnsafe(region.length)
    const allAscii = lowerAscii(bytes, start, end, folded)
    const exact =
      allAscii ||
      (isAscii(needle) && !region.includes(kelvinSign) && !region.includes(dottedCapitalI))
    if (!exact) {
      this.#decodeRows(vector, rowCount, out)
      return out
    }
    const shifted = new Int32Array(rowCount + 1)
    for (let i = 0; i <= rowCount; i++) shifted[i] = offsets[first + i]! - start
    textContains({ bytes: folded, offsets: shifted }, 0, rowCount, needle, out)
    if (pattern.kind !== 'contains') this.#confirm(vector, rowCount, out)
    return out
  }

  #confirm(vector: TextVector, rowCount: number, out: Uint8Array): void {
    for (let i = 0; i < rowCount; i++) {
      if (out[i] === 1 && !this.#matches(textOfRow(vector, i))) out[i] = 0
    }
  }

  #decodeRows(vector: TextVector, rowCount: number, out: Uint8Array): void {
    for (let i = 0; i < rowCount; i++) out[i] = this.#matches(textOfRow(vector, i)) ? 1 : 0
  }
}

function textOfRow({ texts, first }: TextVector, row: number): string {
  return decodeUtf8(texts.bytes, texts.offsets[first + row]!, texts.offsets[first + row + 1]!)
}

function isAscii(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte < 0x80)
}
