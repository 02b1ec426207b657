/** What the states of all aggregates have in common. */

import { maximumRows, newBytes, newNumbers, newState } from '../../kernel/arena.ts'
import { pickBytes, pickNumbers } from '../../kernel/gather.ts'
import type { IntegerRange } from '../../kernel/narrow-mask.ts'
import type { Value } from '../../type/value.ts'
import type { Selection, Vector } from '../../vector/vector.ts'
import type { WireValues } from '../column/wire-values.ts'
import type { Field, StoredField } from '../expression/batch.ts'
import type { WireState } from './wire-state.ts'

/** The rows of a batch that an aggregate takes in. */
export interface AliveRows {
  readonly rowCount: number
  readonly selection: Selection
  /** Group of each alive row, one after the other. */
  readonly groups: Int32Array
  /** The group that all alive rows are in; undefined when they are in several. */
  readonly only?: number | undefined
  /** How many rows are alive. */
  readonly count: number
  /** By row of the batch, how many it stands for; only what counts rows is given such. */
  readonly weights?: Float64Array | undefined
}

/**
 * The state of one aggregate for all groups at once. A task fills it; its wire form is plain data,
 * and merging that into another state of the same aggregate gives what one task over all rows would
 * have.
 */
export interface AggregateState {
  /** Makes room for this many groups. */
  resize(groupCount: number): void
  /** About as many bytes as it takes beyond some numbers per group. */
  readonly heldBytes?: number
  /** @param vectors the arguments; none for `count`, which then counts rows */
  update(vectors: readonly Vector[], rows: AliveRows): void
  /**
   * Instead of `update`, of an aggregate over one field that it may take as that is encoded. False: nothing was taken in,
   * and `update` is to be called.
   *
   * @param selected the rows that are read of a field, where any are: others may be asked for as well
   */
  updateField?(field: Field, rows: AliveRows, selected: Selection): boolean
  /** Whether `updateStoredWhere` takes a field that is stored so. */
  takesWhere?(stored: StoredField): boolean
  /**
   * Instead of `update`, of the rows of a mask, in which 1 is a row that counts, or of those in a range, where the only
   * group is theirs. Returns how many have a number.
   */
  updateStoredWhere?(stored: StoredField, where: Uint8Array | IntegerRange): number
  /** May be a view of what the state has. Rows must not be added any more. */
  toWire(groupCount: number): WireState
  /** The same of these groups alone, where that is less work than to pick them of all. */
  toWireOf?(groups: Int32Array): WireState
  /** Group `i` of the wire form is group `groups[i]` here. */
  merge(wire: WireState, groups: Int32Array): void
  /** Rows must not be added any more. */
  result(group: number): Value
  /** Writes the results of these groups, NaN for null, of a state that has only numbers; false: it has others. */
  writeResults?(groups: Int32Array, out: Float64Array): boolean
  /** The results of these groups as a column, of a state that need not make a value of each; undefined: it has to. */
  column?(groups: Int32Array): WireValues | undefined
}

/** The numbers of the alive rows, one after the other. */
export function aliveNumbers(values: Float64Array, selection: Selection): Float64Array {
  if (!selection) return values
  const alive = newNumbers(selection.length)
  pickNumbers(values, selection, alive)
  return alive
}

/** The bytes of the alive rows, one after the other. */
export function aliveBytes(values: Uint8Array, selection: Selection): Uint8Array {
  if (!selection) return values
  const alive = newBytes(selection.length)
  pickBytes(values, selection, alive)
  return alive
}

/** A field as it is stored, if that is as whole numbers. */
export function storedIn({ encoding }: Field): StoredField | undefined {
  return encoding.kind === 'narrow' ? encoding.stored : undefined
}

/** Whether all rows of a batch are alive, and kernels take them at once. */
export function areWholeBatch({ rowCount, selection }: AliveRows): boolean {
  return !selection && rowCount <= maximumRows
}

/** Rows that are all alive, one of each of these groups. */
export function wholeRows(groups: Int32Array): AliveRows {
  return { rowCount: groups.length, selection: undefined, groups, count: groups.length }
}

/** `grown` for numbers of groups, which a scan has in the kernel arena. */
export function grownState(state: Float64Array, groupCount: number, fill: number): Float64Array {
  if (groupCount <= state.length) return state
  const larger = newState(2 ** Math.ceil(Math.log2(groupCount)), fill)
  larger.set(state)
  return larger
}
