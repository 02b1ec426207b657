import { sequence } from '../../kernel/sequence.ts'
import type { Value } from '../../type/value.ts'
import { GrowingTexts } from '../../vector/text-index.ts'
import { decodeText, type Vector, valueReader } from '../../vector/vector.ts'
import { checkAtTimes, checkCancelled } from '../thread/cancelled.ts'
import { concatenateTexts, plainValues, type WireValues } from './wire-values.ts'

/** Values one after the other, equal ones as often as they are added: texts as bytes, which nothing decodes or looks up. */
export class ListedValues {
  readonly #texts = GrowingTexts.of(1024, 'own', checkCancelled)
  /** By place: what is no text; the text there is empty. */
  readonly #others = new Map<number, Value>()

  get count(): number {
    return this.#texts.count
  }

  get byteLength(): number {
    return this.#texts.byteLength
  }

  /** Adds the values of these rows. */
  add(vector: Vector, rows: Int32Array): void {
    if (vector.kind === 'text') {
      const { texts, first, valid } = vector
      for (let j = 0; j < rows.length; j++) {
        checkAtTimes()
        const row = rows[j]!
        if (valid && valid[row] === 0) this.#addOther(null)
        else
          this.#texts.push(
            texts.bytes,
            texts.offsets[first + row]!,
            texts.offsets[first + row + 1]!,
          )
      }
      return
    }
    const entries = vector.kind === 'dictionary' ? vector.entries.texts : undefined
    const read = valueReader(vector)
    for (let j = 0; j < rows.length; j++) {
      checkAtTimes()
      const row = rows[j]!
      const code = vector.kind === 'dictionary' ? vector.codes[row]! : -1
      if (entries && code >= 0) {
        this.#texts.push(entries.bytes, entries.offsets[code]!, entries.offsets[code + 1]!)
      } else this.#addOther(read(row))
    }
  }

  valueAt(place: number): Value {
    const other = this.#others.get(place)
    return other === undefined ? decodeText(this.#texts, 'text', place) : other
  }

  /** The values at these places, as data that other threads can read. */
  toWire(places: Int32Array = sequence(0, this.count)): WireValues {
    if (this.#others.size > 0) {
      return plainValues(Array.from(places, (place) => this.valueAt(place)))
    }
    return concatenateTexts([this.#texts], new Uint8Array(places.length), places)
  }

  #addOther(value: Value): void {
    this.#others.set(this.count, value)
    this.#texts.pushEmpty()
  }
}
