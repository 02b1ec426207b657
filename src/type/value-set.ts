/** The items of a list, to be asked for many values: what an item takes to be found does not grow with their number. */
import { equals } from './compare.ts'
import { compareTimes, parseTimestamp } from './time.ts'
import { Timestamp, type Value } from './value.ts'

export class ValueSet {
  /** Whether an item is null, which equals nothing and differs from nothing. */
  readonly hasNull: boolean
  readonly #plain = new Set<Value>()
  readonly #others: readonly Value[]
  readonly #texts: readonly string[]
  #times: { readonly values: readonly Timestamp[]; readonly areAll: boolean } | undefined

  constructor(items: readonly Value[]) {
    const others: Value[] = []
    const texts: string[] = []
    for (const item of items) {
      if (typeof item === 'object') {
        if (item !== null) others.push(item)
      } else this.#plain.add(typeof item === 'bigint' ? plainNumber(item) : item)
      if (typeof item === 'string') texts.push(item)
    }
    this.hasNull = items.includes(null)
    this.#others = others
    this.#texts = texts
  }

  /** Items that are texts. */
  get texts(): readonly string[] {
    return this.#texts
  }

  /** Items that are numbers. Those that no double is equal to are bigints. */
  get numbers(): readonly (number | bigint)[] {
    return Array.from(this.#plain).filter(
      (item) => typeof item === 'number' || typeof item === 'bigint',
    )
  }

  /** The same of a text, where no item is a time: for who has no null. */
  hasText(text: string): boolean {
    return this.#plain.has(text)
  }

  /** Whether items may equal a text that is not among them. */
  get hasTimes(): boolean {
    return this.#others.some((item) => item instanceof Timestamp)
  }

  /** Items that are points in time, or texts of such, and whether each text is one. */
  get times(): { readonly values: readonly Timestamp[]; readonly areAll: boolean } {
    if (!this.#times) {
      const read = this.#texts.map(parseTimestamp)
      const given = this.#others.filter((item) => item instanceof Timestamp)
      const values = [...given, ...read.filter((time) => time !== undefined)]
      this.#times = { values, areAll: !read.includes(undefined) }
    }
    return this.#times
  }

  /** As `inList` of the items. */
  has(value: Value): boolean | null {
    if (value === null) return null
    if (value instanceof Timestamp) {
      const { values, areAll } = this.times
      if (values.some((time) => compareTimes(time, value) === 0)) return true
      return this.hasNull || !areAll ? null : false
    }
    if (typeof value !== 'object') {
      if (this.#plain.has(typeof value === 'bigint' ? plainNumber(value) : value)) return true
      if (typeof value !== 'string') return this.hasNull ? null : false
    }
    let found: boolean | null = this.hasNull ? null : false
    for (const item of this.#others) {
      const isEqual = equals(value, item)
      if (isEqual) return true
      if (isEqual === null) found = null
    }
    return found
  }
}

/** An integer as a double, where one is equal to it. */
function plainNumber(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isFinite(number) && BigInt(number) === value ? number : value
}

/** Of lists that were asked for a value before. */
const known = new WeakMap<readonly Value[], ValueSet>()

export function setOf(list: readonly Value[]): ValueSet {
  let set = known.get(list)
  if (!set) {
    set = new ValueSet(list)
    known.set(list, set)
  }
  return set
}
