import { assert } from '../../error.ts'
import { isOfKernels } from '../../kernel/arena.ts'
import { pickBytes, pickNumbers } from '../../kernel/gather.ts'
import { pickSums } from '../../kernel/group-sums.ts'
import { blockCounts } from '../../kernel/number-counts.ts'
import { pickUnits } from '../../kernel/unit-sums.ts'
import type { HeldTexts, NumberCounts, WireState } from '../aggregate/wire-state.ts'
import { gatherColumn } from '../column/relation-column.ts'
import { newResultCodes, newResultNumbers } from '../column/shared-array.ts'
import type { KeyValues } from '../column/wire-values.ts'

/** The state of these groups alone, in their order; `groups` must be ascending. */
export function pickStates(state: WireState, groups: Int32Array): WireState {
  switch (state.kind) {
    case 'counts':
      return { ...state, counts: picked(state.counts, groups) }
    case 'sums':
      return { kind: 'sums', sums: pickSums(state.sums, groups, picked) }
    case 'squares':
      return {
        kind: 'squares',
        sums: pickSums(state.sums, groups, picked),
        squares: pickSums(state.squares, groups, picked),
        farSquares: pickUnits(state.farSquares, groups),
      }
    case 'truths':
      return { ...state, seen: pickedBytes(state.seen, groups) }
    case 'extremes':
      return { ...state, values: picked(state.values, groups) }
    case 'values':
      return { ...state, values: gatherColumn(state.values, groups) }
    case 'chosen':
      return {
        kind: 'chosen',
        values: gatherColumn(state.values, groups),
        keys: gatherColumn(state.keys, groups),
      }
    case 'pairs': {
      const { places, renumbered } = entriesOf(state.groups, groups)
      const { values } = state
      const picked: KeyValues =
        values.kind === 'shared'
          ? { ...values, codes: places.map((place) => values.codes[place]!) }
          : gatherColumn(values, places)
      const held = state.held && pickedHeld(state.held, groups)
      return { kind: 'pairs', groups: renumbered, values: picked, ...(held && { held }) }
    }
    case 'tallies': {
      const { places, renumbered } = entriesOf(state.groups, groups)
      return {
        kind: 'tallies',
        groups: renumbered,
        values: gatherColumn(state.values, places),
        counts: picked(state.counts, places),
      }
    }
    case 'collected': {
      const { places, renumbered } = entriesOf(state.groups, groups)
      return { ...state, groups: renumbered, codes: places.map((place) => state.codes[place]!) }
    }
    case 'entries': {
      const { places, renumbered } = entriesOf(state.groups, groups)
      return {
        kind: 'entries',
        keys: state.keys,
        groups: renumbered,
        names: places.map((place) => state.names[place]!),
        sums: pickSums(state.sums, places, picked),
      }
    }
    case 'numbers':
      return pickLists(state, groups)
    case 'usage':
      assert(false, 'spans whose usage is counted pick groups by themselves')
  }
}

/** The state of all groups, without what lies in the kernel arena, which the next task uses. */
export function lastingState(state: WireState): WireState {
  const parts = Object.entries(state).map(([name, part]) => {
    if (!(part instanceof Float64Array) || !isOfKernels(part)) return [name, part]
    const copy = newResultNumbers(part.length)
    copy.set(part)
    return [name, copy]
  })
  return Object.fromEntries(parts) as WireState
}

function picked(values: Float64Array, places: Int32Array): Float64Array {
  const out = newResultNumbers(places.length)
  pickNumbers(values, places, out)
  return out
}

/** The bytes of these places. */
export function pickedBytes(values: Uint8Array, places: Int32Array): Uint8Array {
  const out = new Uint8Array(places.length)
  pickBytes(values, places, out)
  return out
}

function pickedHeld({ bits, wordsPerGroup }: HeldTexts, groups: Int32Array): HeldTexts {
  return { bits: pickStretches(bits, wordsPerGroup, groups), wordsPerGroup }
}

/** Which entries belong to the groups, and the new numbers of those. */
function entriesOf(groupOf: Int32Array, groups: Int32Array) {
  const highest = groups.at(-1) ?? -1
  const numbers = new Int32Array(highest + 1).fill(-1)
  for (let i = 0; i < groups.length; i++) numbers[groups[i]!] = i
  const places = new Int32Array(groupOf.length)
  const renumbered = new Int32Array(groupOf.length)
  let count = 0
  for (let place = 0; place < groupOf.length; place++) {
    const group = groupOf[place]!
    if (group > highest || numbers[group]! < 0) continue
    places[count] = place
    renumbered[count++] = numbers[group]!
  }
  return { places: places.subarray(0, count), renumbered: renumbered.subarray(0, count) }
}

function pickLists(
  { ends, values, counted }: Extract<WireState, { kind: 'numbers' }>,
  groups: Int32Array,
): WireState {
  const pickedEnds = new Int32Array(groups.length)
  let length = 0
  for (let i = 0; i < groups.length; i++) {
    const group = groups[i]!
    length += ends[group]! - (group === 0 ? 0 : ends[group - 1]!)
    pickedEnds[i] = length
  }
  const numbers = new Float64Array(length)
  let at = 0
  for (const group of groups) {
    const list = values.subarray(group === 0 ? 0 : ends[group - 1]!, ends[group])
    numbers.set(list, at)
    at += list.length
  }
  const pickedCounts = counted && pickCounts(counted, groups)
  return { kind: 'numbers', ends: pickedEnds, values: numbers, counted: pickedCounts }
}

function pickCounts(counted: NumberCounts, groups: Int32Array): NumberCounts {
  const { stride, counts, blocks } = counted
  return {
    ...counted,
    counts: pickStretches(counts, stride, groups),
    blocks: pickStretches(blocks, stride / blockCounts, groups),
  }
}

/** Of arrays that have so many numbers of each group. */
function pickStretches(values: Int32Array, length: number, groups: Int32Array): Int32Array {
  const picked = newResultCodes(groups.length * length)
  for (const [i, group] of groups.entries()) {
    picked.set(values.subarray(group * length, (group + 1) * length), i * length)
  }
  return picked
}
