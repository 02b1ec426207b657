/** Puts the partial groups of tasks together. */
import type { GroupsStage } from '../planner/physical-plan.ts'
import { createAggregateState } from './aggregate/create.ts'
import type { AggregateState } from './aggregate/state.ts'
import { GroupTable } from './group-table.ts'
import type { Relation } from './relation.ts'
import { columnOf, compactColumn } from './relation-column.ts'
import { RowChooser } from './row-choice.ts'
import { checkCancelled } from './scan.ts'
import type { GroupsResult } from './task.ts'
import { vectorOf } from './wire-values.ts'

/** The groups in the order in which they are first seen: keys, then aggregates. */
export function mergeGroups(
  stage: GroupsStage,
  partials: readonly GroupsResult[],
  cancelled: Int32Array | undefined,
): Relation {
  const table = new GroupTable(stage.keys.length)
  const states = stage.aggregates.map(createAggregateState)
  const chooser = stage.row && new RowChooser(stage.row)
  for (const { groupCount, keys, states: wires, rows, preferred } of partials) {
    checkCancelled(cancelled)
    const groups = new Int32Array(groupCount)
    table.assign(keys.map(vectorOf), groupCount, undefined, groups)
    for (const [i, state] of states.entries()) {
      state.resize(table.groupCount)
      state.merge(wires[i]!, groups)
    }
    chooser?.resize(table.groupCount)
    if (rows) chooser?.merge({ rows, preferred }, groups)
  }
  return groupRelation(table, states, chooser)
}

/** The groups that were collected, as rows. */
export function groupRelation(
  table: GroupTable,
  states: readonly AggregateState[],
  chooser: RowChooser | undefined,
): Relation {
  const { groupCount } = table
  for (const state of states) state.resize(groupCount)
  chooser?.resize(groupCount)
  const aggregates = states.map((state) =>
    columnOf(Array.from({ length: groupCount }, (_, group) => state.result(group))),
  )
  return {
    rowCount: groupCount,
    rows: chooser?.finish().rows,
    groupColumns: [...table.toWire().map(compactColumn), ...aggregates],
    fields: [],
  }
}
