/**
 * What a thread has made of segments, and keeps so that its next query finds it: all of it together is bounded, and
 * what was used longest ago goes first. It goes with what it is of, too, whenever that is let go of.
 */
import { LRUCache } from 'lru-cache'

/** Of all of it in a thread. */
export const maximumCachedBytes = 2 ** 26

interface Place {
  /** Where the value stands, which the order of use must not keep. */
  readonly values: WeakRef<Map<string, unknown>>
  readonly name: string
}

interface Kept<Value> {
  readonly value: Value
  readonly place: Place
}

const places = new LRUCache<Place, true>({
  maxSize: maximumCachedBytes,
  dispose: (_, { values, name }) => values.deref()?.delete(name),
})

/** Values of one kind, by what they are of and, if that has several, a name. */
export class ValueCache<Value> {
  readonly #ofOwners = new WeakMap<object, Map<string, Kept<Value>>>()

  get(owner: object, name = ''): Value | undefined {
    const kept = this.#ofOwners.get(owner)?.get(name)
    if (kept) places.get(kept.place)
    return kept?.value
  }

  delete(owner: object, name = ''): void {
    const kept = this.#ofOwners.get(owner)?.get(name)
    if (kept) places.delete(kept.place)
  }

  /** @param bytes about as many as it takes */
  set(owner: object, value: Value, bytes: number, name = ''): void {
    const values = this.#ofOwners.get(owner) ?? new Map<string, Kept<Value>>()
    this.#ofOwners.set(owner, values)
    const before = values.get(name)
    if (before) places.delete(before.place)
    if (bytes > maximumCachedBytes) return
    const place = { values: new WeakRef(values), name }
    values.set(name, { value, place })
    places.set(place, true, { size: bytes })
  }
}
