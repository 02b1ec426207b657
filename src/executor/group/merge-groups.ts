/** Puts the partial groups of tasks together. */
import type { BoundGrouping } from '../../binder/bound.ts'
import type { SharedDictionary, SharedTexts } from '../../vector/shared-dictionary.ts'
import { createAggregateState } from '../aggregate/create.ts'
import type { AggregateState } from '../aggregate/state.ts'
import type { WireState } from '../aggregate/wire-state.ts'
import { ChosenValues } from '../column/chosen-values.ts'
import { GroupTable } from '../column/group-table.ts'
import { RowChooser } from '../column/row-choice.ts'
import { type KeyValues, vectorOf } from '../column/wire-values.ts'
import type { GroupKeys, PartialGroups } from '../task/task.ts'
import { dictionaryOf } from '../task/task-dictionaries.ts'
import { checkCancelled } from '../thread/cancelled.ts'
import { GroupRelation } from './group-relation.ts'

/**
 * The groups in the order in which they are first seen.
 *
 * @param dictionaries those that partial groups name
 */
export function mergeGroups(
  stage: BoundGrouping,
  partials: readonly PartialGroups[],
  dictionaries: readonly SharedDictionary[],
): GroupRelation {
  const stateTexts = stage.aggregates.map((_, i) => {
    return sharedBy(
      partials.map(({ states }) => pairValues(states[i])),
      dictionaries,
    )
  })
  const merge = new GroupMerge(stage, emptyTable(stage, partials, dictionaries), stateTexts)
  for (const partial of partials) merge.add(partial)
  return merge.relation()
}

/** Groups in the order in which they are first seen, while partial ones come. */
export class GroupMerge {
  readonly #table: GroupTable
  readonly #states: readonly AggregateState[]
  readonly #chooser: RowChooser | undefined
  readonly #values: readonly ChosenValues[]

  /**
   * @param table of no groups
   * @param stateTexts for each aggregate the dictionary that partial groups name in its state
   */
  constructor(
    stage: BoundGrouping,
    table: GroupTable,
    stateTexts: readonly (SharedTexts | undefined)[],
  ) {
    this.#table = table
    this.#states = stage.aggregates.map((aggregate, i) => {
      return createAggregateState(aggregate, stateTexts[i])
    })
    this.#chooser = stage.row && new RowChooser(stage.row)
    this.#values = (stage.row?.values ?? []).map(() => new ChosenValues())
  }

  add({ groupCount, keys, states: wires, rows, preferred, rowValues }: PartialGroups): void {
    const table = this.#table
    checkCancelled()
    const groups = new Int32Array(groupCount)
    table.assignKeys(keys, groupCount, groups)
    for (const [i, state] of this.#states.entries()) {
      checkCancelled()
      state.resize(table.groupCount)
      state.merge(wires[i]!, groups)
    }
    const chooser = this.#chooser
    chooser?.resize(table.groupCount)
    if (!rows || !chooser) return
    chooser.merge({ rows, preferred }, groups)
    for (const [i, chosen] of this.#values.entries()) {
      chosen.resize(table.groupCount)
      chosen.take(vectorOf(rowValues[i]!), groupCount, chooser.changed)
    }
  }

  /** The groups as rows. None must be added any more. */
  relation(): GroupRelation {
    const { groupCount } = this.#table
    const chooser = this.#chooser
    for (const state of this.#states) state.resize(groupCount)
    chooser?.resize(groupCount)
    for (const chosen of this.#values) chosen.resize(groupCount)
    const rows = chooser && ((groups?: Int32Array) => chooser.finish(groups).rows)
    return GroupRelation.of(this.#table, this.#states, this.#values, rows)
  }
}

/** A table of no groups, for keys such as these. */
export function emptyTable(
  { keys }: BoundGrouping,
  parts: readonly GroupKeys[],
  dictionaries: readonly SharedDictionary[],
): GroupTable {
  return new GroupTable(
    keys.map((_, k) => {
      return sharedBy(
        parts.map((part) => part.keys[k]),
        dictionaries,
      )
    }),
  )
}

/** The dictionary that texts are numbered by in some partial groups. */
function sharedBy(
  parts: readonly (KeyValues | undefined)[],
  dictionaries: readonly SharedDictionary[],
): SharedTexts | undefined {
  for (const values of parts) {
    if (values?.kind === 'shared') return dictionaryOf(dictionaries, values.dictionary)
  }
  return undefined
}

function pairValues(state: WireState | undefined): KeyValues | undefined {
  return state?.kind === 'pairs' ? state.values : undefined
}
