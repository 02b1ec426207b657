/** Which numbers of a column are among many: by a bit each where they are integers near each other, or by a table. */
import { newBytes } from '../../kernel/arena.ts'
import { isTimeOfNumber } from '../../type/value.ts'
import type { ValueSet } from '../../type/value-set.ts'
import { type NumberVector, unknown, type Vector } from '../../vector/vector.ts'

/** Between the least and the greatest of them: half a megabyte of bits. */
const mostBits = 2 ** 22
/** A place is taken by one in so many, at most. */
const placesPerNumber = 4

type Lookup = (values: Float64Array, count: number, absent: number, out: Uint8Array) => void

/** By the set and the kind of vector. */
const lookups = new WeakMap<ValueSet, Partial<Record<NumberVector['kind'], Lookup>>>()

/** Whether each number, or time, is an item of the set. */
export function numbersInSet({ kind, values }: NumberVector, set: ValueSet, count: number): Vector {
  const known = lookups.get(set) ?? {}
  lookups.set(set, known)
  known[kind] ??= lookupOf(kind === 'number' ? numbersOf(set) : timesOf(set))
  const isUnsure = set.hasNull || (kind === 'timestamp' && !set.times.areAll)
  const out = newBytes(count)
  known[kind](values, count, isUnsure ? unknown : 0, out)
  return { kind: 'boolean', values: out }
}

function numbersOf(set: ValueSet): number[] {
  return set.numbers.filter((number) => typeof number === 'number')
}

function timesOf(set: ValueSet): number[] {
  return set.times.values.filter(isTimeOfNumber).map(({ ms }) => ms)
}

function lookupOf(numbers: readonly number[]): Lookup {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const number of numbers) {
    low = Math.min(low, number)
    high = Math.max(high, number)
  }
  const areNear = numbers.every(Number.isInteger) && high - low < mostBits
  return areNear ? inBits(numbers, low, high) : inTable(numbers)
}

function inBits(numbers: readonly number[], low: number, high: number): Lookup {
  const bits = new Uint8Array(numbers.length === 0 ? 0 : ((high - low) >> 3) + 1)
  for (const number of numbers) bits[(number - low) >> 3]! |= 1 << ((number - low) & 7)
  return (values, count, absent, out) => {
    for (let i = 0; i < count; i++) {
      const value = values[i]!
      if (value >= low && value <= high) {
        const at = value - low
        const isIn = (at | 0) === at && ((bits[at >> 3]! >> (at & 7)) & 1) === 1
        out[i] = isIn ? 1 : absent
      } else out[i] = Number.isNaN(value) ? unknown : absent
    }
  }
}

const asDouble = new Float64Array(1)
const asWords = new Uint32Array(asDouble.buffer)

function hashOf(number: number): number {
  // Of the two zeros, which are equal, always the same.
  asDouble[0] = number + 0
  const mixed = Math.imul(asWords[0]! ^ Math.imul(asWords[1]!, 0x85ebca6b), 0xc2b2ae35)
  return mixed ^ (mixed >>> 15)
}

/** Numbers stand at their hash, or behind it where others stand there; NaN, which none of them is, is a free place. */
function inTable(numbers: readonly number[]): Lookup {
  const size = 2 ** Math.ceil(Math.log2(numbers.length * placesPerNumber + 1))
  const places = new Float64Array(size).fill(Number.NaN)
  const last = size - 1
  for (const number of numbers) {
    let at = hashOf(number) & last
    while (!Number.isNaN(places[at]!) && places[at] !== number) at = (at + 1) & last
    places[at] = number
  }
  return (values, count, absent, out) => {
    for (let i = 0; i < count; i++) {
      const value = values[i]!
      if (Number.isNaN(value)) {
        out[i] = unknown
        continue
      }
      let at = hashOf(value) & last
      while (!Number.isNaN(places[at]!) && places[at] !== value) at = (at + 1) & last
      out[i] = places[at] === value ? 1 : absent
    }
  }
}
