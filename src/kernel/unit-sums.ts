/** Sums as whole numbers of any length, of the few groups that need such. */
export class UnitSums {
  readonly #sums = new Map<number, bigint>()

  add(group: number, units: bigint): void {
    this.#sums.set(group, this.of(group) + units)
  }

  of(group: number): bigint {
    return this.#sums.size === 0 ? 0n : (this.#sums.get(group) ?? 0n)
  }

  /** Those of these groups, by their places among them. */
  toWire(groups: Int32Array): WireUnits {
    const found: { places: number[]; sums: bigint[] } = { places: [], sums: [] }
    for (let i = 0; i < groups.length && this.#sums.size > 0; i++) {
      const sum = this.#sums.get(groups[i]!)
      if (sum === undefined) continue
      found.places.push(i)
      found.sums.push(sum)
    }
    return found
  }

  /** Place `i` of the wire form is group `groups[i]` here. */
  merge({ places, sums }: WireUnits, groups: Int32Array): void {
    for (const [i, place] of places.entries()) this.add(groups[place]!, sums[i]!)
  }
}

export interface WireUnits {
  readonly places: readonly number[]
  readonly sums: readonly bigint[]
}

/** Those of these places alone, which are ascending, in their order. */
export function pickUnits({ places, sums }: WireUnits, picked: Int32Array): WireUnits {
  const found: { places: number[]; sums: bigint[] } = { places: [], sums: [] }
  if (places.length === 0) return found
  const sumOf = new Map(places.map((place, i) => [place, sums[i]!]))
  for (let i = 0; i < picked.length; i++) {
    const sum = sumOf.get(picked[i]!)
    if (sum === undefined) continue
    found.places.push(i)
    found.sums.push(sum)
  }
  return found
}
