import { countNumbers, countRows } from '../../kernel/aggregate.ts'
import type { Value } from '../../type/value.ts'
import { unknown, type Vector, valueReader } from '../../vector/vector.ts'
import { truthBytes } from '../compile.ts'
import {
  type AggregateState,
  type AliveRows,
  aliveNumbers,
  grown,
  type WireState,
} from './state.ts'

/** `count` and `count_if`. */
export class CountState implements AggregateState {
  readonly #counted: 'present' | 'true'
  #counts = new Float64Array(1)
  #groupCount = 1

  constructor(counted: 'present' | 'true') {
    this.#counted = counted
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
    this.#counts = grown(this.#counts, groupCount, 0)
  }

  update([vector]: readonly Vector[], rows: AliveRows): void {
    const { rowCount, selection, groups, count } = rows
    if (!vector) {
      if (this.#groupCount === 1) this.#counts[0]! += count
      else countRows(groups, count, this.#counts)
      return
    }
    if (this.#counted === 'true') {
      const truth = truthBytes(vector, rowCount, selection)
      for (let j = 0; j < count; j++) {
        this.#counts[groups[j]!]! += +(truth[selection ? selection[j]! : j] === 1)
      }
      return
    }
    if (vector.kind === 'number' || vector.kind === 'timestamp') {
      countNumbers(aliveNumbers(vector.values, selection), groups, count, this.#counts)
      return
    }
    const isNull = nullTest(vector, rowCount)
    for (let j = 0; j < count; j++) {
      if (!isNull(selection ? selection[j]! : j)) this.#counts[groups[j]!]!++
    }
  }

  toWire(groupCount: number): WireState {
    return { kind: 'counts', counts: this.#counts.slice(0, groupCount) }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'counts') return
    for (let i = 0; i < groups.length; i++) this.#counts[groups[i]!]! += wire.counts[i]!
  }

  result(group: number): Value {
    return this.#counts[group]!
  }

  results(groupCount: number): Float64Array {
    return this.#counts.slice(0, groupCount)
  }
}

function nullTest(vector: Vector, rowCount: number): (row: number) => boolean {
  switch (vector.kind) {
    case 'dictionary':
      return (row) => vector.codes[row]! < 0
    case 'boolean':
      return (row) => vector.values[row] === unknown
    case 'text': {
      const valid = vector.valid ?? new Uint8Array(rowCount).fill(1)
      return (row) => valid[row] === 0
    }
    default: {
      const read = valueReader(vector)
      return (row) => read(row) === null
    }
  }
}
