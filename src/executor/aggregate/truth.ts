import type { Value } from '../../type/value.ts'
import type { Vector } from '../../vector/vector.ts'
import { grown } from '../column/grown.ts'
import { truthBytes } from '../expression/evaluator.ts'
import { type AggregateState, type AliveRows, aliveBytes } from './state.ts'
import type { WireState } from './wire-state.ts'

const sawTrue = 1
const sawFalse = 2

/** By truth: false, true, null. */
const bitOf = Uint8Array.of(sawFalse, sawTrue, 0)

/** `bool_and` and `bool_or`; what is no boolean does not count. */
export class TruthState implements AggregateState {
  readonly #operator: 'and' | 'or'
  #seen = new Uint8Array(1)

  constructor(operator: 'and' | 'or') {
    this.#operator = operator
  }

  resize(groupCount: number): void {
    this.#seen = grown(this.#seen, groupCount, 0)
  }

  update([vector]: readonly Vector[], { rowCount, selection, groups, count }: AliveRows): void {
    if (!vector) return
    const truth = aliveBytes(truthBytes(vector, rowCount, selection), selection)
    const seen = this.#seen
    for (let j = 0; j < count; j++) seen[groups[j]!]! |= bitOf[truth[j]!]!
  }

  toWire(groupCount: number): WireState {
    return { kind: 'truths', seen: this.#seen.subarray(0, groupCount) }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'truths') return
    for (let i = 0; i < groups.length; i++) this.#seen[groups[i]!]! |= wire.seen[i]!
  }

  result(group: number): Value {
    const seen = this.#seen[group]!
    if (seen === 0) return null
    return this.#operator === 'and' ? (seen & sawFalse) === 0 : (seen & sawTrue) !== 0
  }
}
