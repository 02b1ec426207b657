/**
 * Objects of numbers, such as scores and metrics, as arrays: those of a hundred thousand traces are half a million
 * things for V8 to go through, which held a thread for 0.25 s.
 */
import { pickBytes } from '../../kernel/gather.ts'
import { isObject, type JsonObject, type Value } from '../../type/value.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import { grown } from './grown.ts'
import { sliceArray } from './shared-array.ts'

export interface NumberObjects {
  readonly kind: 'objects'
  /** 0 where the value is null. */
  readonly valid: Uint8Array
  /** The members of row `i` are `offsets[i] … offsets[i + 1]`, in the order of its keys. */
  readonly offsets: Int32Array
  /** By member: the place of its key in `names`. */
  readonly keys: Int32Array
  /** By member; NaN is null. */
  readonly numbers: Float64Array
  readonly names: readonly string[]
}

/** The object of a row, made anew. */
export function objectAt(objects: NumberObjects, row: number): Value {
  const { valid, offsets, keys, numbers, names } = objects
  if (valid[row] === 0) return null
  const object: Record<string, Value> = Object.create(null)
  for (let member = offsets[row]!; member < offsets[row + 1]!; member++) {
    const number = numbers[member]!
    object[names[keys[member]!]!] = Number.isNaN(number) ? null : number
  }
  return object
}

/** Rows `from … to`; see `sliceArray`. */
export function sliceObjects(objects: NumberObjects, from: number, to: number): NumberObjects {
  const { offsets, keys, numbers } = objects
  const [first, last] = [offsets[from]!, offsets[to]!]
  return {
    ...objects,
    valid: sliceArray(objects.valid, from, to),
    offsets: offsets.slice(from, to + 1).map((offset) => offset - first),
    keys: sliceArray(keys, first, last),
    numbers: sliceArray(numbers, first, last),
  }
}

/** The rows of these indexes, in their order. */
export function gatherObjects(objects: NumberObjects, rows: Int32Array): NumberObjects {
  const { offsets, keys, numbers } = objects
  const valid = new Uint8Array(rows.length)
  pickBytes(objects.valid, rows, valid)
  const gathered = new Int32Array(rows.length + 1)
  for (let i = 0; i < rows.length; i++) {
    checkAtTimes()
    gathered[i + 1] = gathered[i]! + offsets[rows[i]! + 1]! - offsets[rows[i]!]!
  }
  const memberCount = gathered[rows.length]!
  const out = { keys: new Int32Array(memberCount), numbers: new Float64Array(memberCount) }
  for (let i = 0, to = 0; i < rows.length; i++) {
    checkAtTimes()
    for (let from = offsets[rows[i]!]!; from < offsets[rows[i]! + 1]!; from++, to++) {
      out.keys[to] = keys[from]!
      out.numbers[to] = numbers[from]!
    }
  }
  return { kind: 'objects', valid, offsets: gathered, ...out, names: objects.names }
}

/** Puts such a column together, value by value. */
export class NumberObjectsBuilder {
  #valid = new Uint8Array(64)
  #offsets = new Int32Array(64)
  #keys = new Int32Array(64)
  #numbers = new Float64Array(64)
  readonly #codes = new Map<string, number>()
  #count = 0

  /** @param nullCount as many nulls come first */
  constructor(nullCount: number) {
    this.#reserve(nullCount)
    this.#count = nullCount
  }

  /** False where the value is neither null nor an object of numbers and nulls alone: then it is not taken. */
  push(value: Value): boolean {
    let end = this.#offsets[this.#count]!
    if (value !== null) {
      if (!isObject(value)) return false
      for (const name of Object.keys(value)) {
        const member = (value as JsonObject)[name]!
        if (member !== null && typeof member !== 'number') return false
        if (end === this.#keys.length) {
          this.#keys = grown(this.#keys, end + 1, 0)
          this.#numbers = grown(this.#numbers, end + 1, 0)
        }
        this.#keys[end] = this.#codeOf(name)
        this.#numbers[end++] = member ?? Number.NaN
      }
    }
    if (this.#count + 1 === this.#offsets.length) this.#reserve(this.#count + 1)
    this.#valid[this.#count++] = value === null ? 0 : 1
    this.#offsets[this.#count] = end
    return true
  }

  finish(): NumberObjects {
    const memberCount = this.#offsets[this.#count]!
    return {
      kind: 'objects',
      valid: this.#valid.slice(0, this.#count),
      offsets: this.#offsets.slice(0, this.#count + 1),
      keys: this.#keys.slice(0, memberCount),
      numbers: this.#numbers.slice(0, memberCount),
      names: [...this.#codes.keys()],
    }
  }

  #codeOf(name: string): number {
    let code = this.#codes.get(name)
    if (code === undefined) {
      code = this.#codes.size
      this.#codes.set(name, code)
    }
    return code
  }

  #reserve(count: number): void {
    this.#valid = grown(this.#valid, count + 1, 0)
    this.#offsets = grown(this.#offsets, count + 1, 0)
  }
}
