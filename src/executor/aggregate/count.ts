import { countAll, countNumbers, countRows, countTrue } from '../../kernel/aggregate.ts'
import { newCodes } from '../../kernel/arena.ts'
import { pickCodes, pickNumbers } from '../../kernel/gather.ts'
import { notOf } from '../../kernel/logic.ts'
import type { Value } from '../../type/value.ts'
import type { Selection, Vector } from '../../vector/vector.ts'
import { type Field, nullBytes } from '../expression/batch.ts'
import { truthBytes } from '../expression/evaluator.ts'
import { selectPresent, truthsOf } from '../field/select-present.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import {
  type AggregateState,
  type AliveRows,
  aliveBytes,
  aliveNumbers,
  grownState,
} from './state.ts'
import type { WireState } from './wire-state.ts'

/** `count` and `count_if`. */
export class CountState implements AggregateState {
  readonly counted: 'present' | 'true'
  #counts: Float64Array = new Float64Array(0)

  constructor(counted: 'present' | 'true') {
    this.counted = counted
  }

  resize(groupCount: number): void {
    this.#counts = grownState(this.#counts, groupCount, 0)
  }

  update([vector]: readonly Vector[], rows: AliveRows): void {
    const { rowCount, selection, groups, only, count, weights } = rows
    if (weights) {
      this.#addWeights(vector, weights, rows)
      return
    }
    if (!vector) {
      if (only !== undefined) this.#counts[only]! += count
      else countRows(groups, count, this.#counts)
      return
    }
    if (this.counted === 'true') {
      const truth =
        vector.kind === 'boolean' ? vector.values : truthBytes(vector, rowCount, selection)
      countTrue(aliveBytes(truth, selection), groups, count, this.#counts)
      return
    }
    if (vector.kind === 'number' || vector.kind === 'timestamp') {
      const numbers = aliveNumbers(vector.values, selection)
      if (only !== undefined) this.#counts[only]! += countAll(numbers, count)
      else countNumbers(numbers, groups, count, this.#counts)
      return
    }
    countTrue(
      aliveBytes(presentBytes(vector, rowCount, selection), selection),
      groups,
      count,
      this.#counts,
    )
  }

  #addWeights(
    vector: Vector | undefined,
    weights: Float64Array,
    { rowCount, selection, groups, count }: AliveRows,
  ): void {
    const counted =
      vector &&
      (this.counted === 'true'
        ? truthBytes(vector, rowCount, selection)
        : presentBytes(vector, rowCount, selection))
    for (let j = 0; j < count; j++) {
      const row = selection ? selection[j]! : j
      if (!counted || counted[row] === 1) this.#counts[groups[j]!]! += weights[row]!
    }
  }

  updateField({ presence }: Field, rows: AliveRows): boolean {
    if (this.counted !== 'present' || rows.weights || !presence) return false
    const { rowCount, selection, groups, count } = rows
    if (selection) {
      const present = truthsOf(presence, true, rowCount)
      countTrue(aliveBytes(present, selection), groups, count, this.#counts)
      return true
    }
    const present = newCodes(rowCount)
    const found = selectPresent(presence, true, rowCount, present)
    const ofFound = newCodes(found)
    pickCodes(groups, present.subarray(0, found), ofFound)
    countRows(ofFound, found, this.#counts)
    return true
  }

  toWire(groupCount: number): WireState {
    return { kind: 'counts', counts: this.#counts.subarray(0, groupCount) }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'counts') return
    for (let i = 0; i < groups.length; i++) {
      checkAtTimes()
      this.#counts[groups[i]!]! += wire.counts[i]!
    }
  }

  result(group: number): Value {
    return this.#counts[group]!
  }

  writeResults(groups: Int32Array, out: Float64Array): boolean {
    pickNumbers(this.#counts, groups, out)
    return true
  }
}

/** 1 where a row has a value; rows that are not alive may hold anything. */
function presentBytes(vector: Vector, rowCount: number, selection: Selection): Uint8Array {
  const present = nullBytes(vector, rowCount, selection)
  notOf(present, rowCount, present)
  return present
}
