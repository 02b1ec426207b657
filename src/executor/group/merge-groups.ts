/** Puts the partial groups of tasks together. */
import type { BoundGrouping } from '../../binder/bound.ts'
import type { SharedDictionary, SharedTexts } from '../../vector/shared-dictionary.ts'
import { createAggregateState } from '../aggregate/create.ts'
import type { WireState } from '../aggregate/wire-state.ts'
import { ChosenValues } from '../column/chosen-values.ts'
import { GroupTable } from '../column/group-table.ts'
import { RowChooser } from '../column/row-choice.ts'
import { type KeyValues, vectorOf } from '../column/wire-values.ts'
import type { PartialGroups } from '../task/task.ts'
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
  const shared = (valuesOf: (partial: PartialGroups) => KeyValues | undefined) =>
    sharedBy(partials.map(valuesOf), dictionaries)
  const table = new GroupTable(stage.keys.map((_, k) => shared(({ keys }) => keys[k])))
  const states = stage.aggregates.map((aggregate, i) => {
    return createAggregateState(
      aggregate,
      shared(({ states }) => pairValues(states[i])),
    )
  })
  const chooser = stage.row && new RowChooser(stage.row)
  const values = (stage.row?.values ?? []).map(() => new ChosenValues())
  for (const partial of partials) {
    const { groupCount, keys, states: wires, rows, preferred, rowValues } = partial
    checkCancelled()
    const groups = new Int32Array(groupCount)
    table.assignKeys(keys, groupCount, groups)
    for (const [i, state] of states.entries()) {
      checkCancelled()
      state.resize(table.groupCount)
      state.merge(wires[i]!, groups)
    }
    chooser?.resize(table.groupCount)
    if (!rows || !chooser) continue
    chooser.merge({ rows, preferred }, groups)
    for (const [i, chosen] of values.entries()) {
      chosen.resize(table.groupCount)
      chosen.take(vectorOf(rowValues[i]!), groupCount, chooser.changed)
    }
  }
  for (const state of states) state.resize(table.groupCount)
  chooser?.resize(table.groupCount)
  for (const chosen of values) chosen.resize(table.groupCount)
  const rows = chooser && ((groups?: Int32Array) => chooser.finish(groups).rows)
  return GroupRelation.of(table, stage.keys.length, states, values, rows)
}

/** The dictionary that texts are numbered by in some partial groups. */
function sharedBy(
  partials: readonly (KeyValues | undefined)[],
  dictionaries: readonly SharedDictionary[],
): SharedTexts | undefined {
  for (const values of partials) {
    if (values?.kind === 'shared') return dictionaryOf(dictionaries, values.dictionary)
  }
  return undefined
}

function pairValues(state: WireState | undefined): KeyValues | undefined {
  return state?.kind === 'pairs' ? state.values : undefined
}
