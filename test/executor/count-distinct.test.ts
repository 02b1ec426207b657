import { expect, it } from 'vitest'
import { CountDistinctState } from '../../src/executor/aggregate/count-distinct.ts'
import { wholeRows } from '../../src/executor/aggregate/state.ts'
import { pickStates } from '../../src/executor/group/pick-states.ts'
import {
  type SharedCodes,
  SharedDictionaryBuilder,
  SharedTexts,
} from '../../src/vector/shared-dictionary.ts'
import type { Vector } from '../../src/vector/vector.ts'
import { ToldField } from '../support/told-field.ts'

const builder = new SharedDictionaryBuilder(1, undefined)
const words = Array.from({ length: 70 }, (_, i) => `word ${i}`)
const offsets = Int32Array.from([0, ...words.map((_, i) => words.slice(0, i + 1).join('').length)])
const bytes = Buffer.from(words.join(''))
builder.add({ encoding: 'plain', texts: { bytes, offsets }, validity: undefined }, 1)
const dictionary = new SharedTexts(builder.finish())

function coded(...codes: number[]): SharedCodes {
  return { dictionary, codes: Int32Array.from(codes), map: undefined }
}

function rowsOf(...groups: number[]) {
  return wholeRows(Int32Array.from(groups))
}

/** Groups 0 and 1 with texts of the dictionary by code, and with values as they are. */
function filled(groupCount: number): CountDistinctState {
  const state = new CountDistinctState(dictionary)
  state.resize(2)
  state.updateField(new ToldField({ shared: coded(3, 69, 3, -1, 3) }), rowsOf(0, 0, 0, 0, 1))
  const values: Vector = { kind: 'values', values: ['word 3', 'another', 7, null, 7, 'word 4'] }
  state.update([values], rowsOf(0, 0, 0, 0, 0, 1))
  state.resize(groupCount)
  return state
}

const manyGroups = 2_000_000

it.each([2, manyGroups])('counts each value once, whether coded or not, in %d groups', (count) => {
  const state = new CountDistinctState(dictionary)
  state.resize(count)
  state.merge(
    filled(count).toWire(count),
    Int32Array.from({ length: count }, (_, i) => i),
  )
  expect([state.result(0), state.result(1)]).toEqual([4, 2])
})

it('counts each value once in one group, whether texts of the dictionary come with their codes or not', () => {
  const [state, merged] = [new CountDistinctState(dictionary), new CountDistinctState(dictionary)]
  for (const each of [state, merged]) each.resize(1)
  state.updateField(new ToldField({ shared: coded(3, 69, 3, -1) }), rowsOf(0, 0, 0, 0))
  const values: Vector = { kind: 'values', values: ['word 3', 'word 5', 'another', 7, null] }
  state.update([values], rowsOf(0, 0, 0, 0, 0))
  for (const each of [state, state]) merged.merge(each.toWire(1), Int32Array.of(0))
  expect([state.result(0), merged.result(0)]).toEqual([5, 5])
})

it('merges states that have many groups with those that have few, and picked groups', () => {
  const state = new CountDistinctState(dictionary)
  state.resize(2)
  state.merge(filled(2).toWire(2), Int32Array.of(0, 1))
  const picked = pickStates(filled(3).toWire(3), Int32Array.of(1))
  state.merge(picked, Int32Array.of(0))
  expect([state.result(0), state.result(1)]).toEqual([5, 2])
  state.resize(manyGroups)
  state.merge(picked, Int32Array.of(1_999_999))
  const wire = state.toWire(manyGroups)
  const merged = new CountDistinctState(dictionary)
  merged.resize(manyGroups)
  merged.merge(filled(2).toWire(2), Int32Array.of(5, 6))
  merged.merge(
    wire,
    Int32Array.from({ length: manyGroups }, (_, i) => i),
  )
  expect([0, 5, 6, 1_999_999].map((group) => merged.result(group))).toEqual([5, 4, 2, 2])
})
