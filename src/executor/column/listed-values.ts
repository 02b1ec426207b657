import { newStateBytes, newTable } from '../../kernel/arena.ts'
import { sequence } from '../../kernel/sequence.ts'
import { pickTexts } from '../../kernel/texts.ts'
import type { Value } from '../../type/value.ts'
import type { Texts } from '../../vector/column.ts'
import { decodeText, type TextVector, type Vector, valueReader } from '../../vector/vector.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import { concatenateTexts, plainValues, type WireValues } from './wire-values.ts'

/** Values that were added at once; texts as bytes, and undefined what is none. */
interface Part {
  readonly first: number
  readonly texts?: Texts
  readonly values?: readonly Value[]
}

/** Values one after the other, equal ones as often as they are added: texts are neither decoded nor looked up. */
export class ListedValues {
  count = 0
  byteLength = 0
  readonly #parts: Part[] = []
  #areTexts = true

  /** Adds the values of these rows, which are ascending. */
  add(vector: Vector, rows: Int32Array): void {
    if (rows.length === 0) return
    const texts = vector.kind === 'text' ? textsOfRows(vector, rows) : undefined
    if (texts) {
      this.#parts.push({ first: this.count, texts })
      this.byteLength += texts.bytes.length + texts.offsets.byteLength
    } else {
      const read = valueReader(vector)
      const values = Array.from(rows, read)
      this.#parts.push({ first: this.count, values })
      this.#areTexts = false
      this.byteLength += valueBytes * values.length
    }
    this.count += rows.length
  }

  valueAt(place: number): Value {
    const { first, texts, values } = this.#parts[this.#partOf(place)]!
    return texts ? decodeText(texts, 'text', place - first) : values![place - first]!
  }

  /** The values at these places, as data that other threads can read. */
  toWire(places: Int32Array = sequence(0, this.count)): WireValues {
    if (!this.#areTexts) {
      return plainValues(Array.from(places, (place) => this.valueAt(place)))
    }
    const which = places.map((place) => this.#partOf(place))
    const within = places.map((place, i) => place - this.#parts[which[i]!]!.first)
    return concatenateTexts(
      this.#parts.map(({ texts }) => texts!),
      which,
      within,
    )
  }

  #partOf(place: number): number {
    checkAtTimes()
    let [low, high] = [0, this.#parts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#parts[middle]!.first <= place) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** What a value that is no text takes, about. */
const valueBytes = 64

/** Undefined where one is null. */
function textsOfRows({ texts, first, valid }: TextVector, rows: Int32Array): Texts | undefined {
  const { offsets } = texts
  let length = 0
  for (let j = 0; j < rows.length; j++) {
    const row = rows[j]!
    if (valid && valid[row] === 0) return undefined
    length += offsets[first + row + 1]! - offsets[first + row]!
  }
  const ends = newTable(rows.length + 1, 0)
  const bytes = newStateBytes(length)
  pickTexts(texts, first, rows, bytes, ends.subarray(1))
  return { bytes, offsets: ends }
}
