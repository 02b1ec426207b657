/** Takes in groups that the cluster has made. */
import { assert } from '../error.ts'
import { addStates, beginStates } from '../kernel/arena.ts'
import type { GroupsStage } from '../planner/physical-plan.ts'
import { withSemiJoinSets } from './expression/semi-join-set.ts'
import {
  type GroupRow,
  groupsOfCluster,
  keysOfCluster,
  rowsOfTexts,
} from './group/cluster-groups.ts'
import { finishLocal } from './group/local-groups.ts'
import { emptyTable, GroupMerge } from './group/merge-groups.ts'
import { RelationReader } from './relation/relation-batch.ts'
import type { TaskStorage } from './scan/row-run.ts'
import type { GroupKeys, PartialGroups, TakeGroupsResult, TakeGroupsTask } from './task/task.ts'
import { TaskProfile } from './task/task-profile.ts'

/** Of a task that is profiled: what it does before the stages. */
const operator = 'groups of the cluster'

export function runTakeGroups(task: TakeGroupsTask, storage: TaskStorage): TakeGroupsResult {
  const { plan, parts, form } = task
  assert(plan.stage.kind === 'groups', 'only groups are taken in')
  const profile = task.isProfiled ? new TaskProfile(plan) : undefined
  beginStates()
  const partials: PartialGroups[] = []
  let local: TakeGroupsResult['local']
  if (task.others) {
    const part = partingByKeys(plan.stage, task)
    const merge = new GroupMerge(plan.stage, emptyTable(plan.stage, [], []), [])
    for (const rows of rowsOfTexts(parts)) {
      const { elsewhere, others } = part(rows)
      if (elsewhere.length > 0) partials.push(groupsOfCluster(elsewhere, form))
      merge.add(groupsOfCluster(others, form))
    }
    const relation = merge.relation()
    profile?.mark(operator, 0, relation.rowCount)
    addStates()
    local = finishLocal(relation, plan, {
      evaluation: withSemiJoinSets(task.context, task.semiJoinSets),
      profile,
      read: (made) => new RelationReader(made, plan, { segments: [], storage }),
    })
  } else {
    for (const rows of rowsOfTexts(parts)) partials.push(groupsOfCluster(rows, form))
  }
  const groupCount = partials.reduce((sum, partial) => sum + partial.groupCount, 0)
  profile?.mark(operator, 0, groupCount)
  return { kind: 'take groups', partials, local, operators: profile?.operators ?? [] }
}

/** Parts groups by whether others have found some of the same keys. */
function partingByKeys(
  stage: GroupsStage,
  { others = [], dictionaries, form }: TakeGroupsTask,
): (rows: readonly GroupRow[]) => { elsewhere: readonly GroupRow[]; others: readonly GroupRow[] } {
  const table = emptyTable(stage, others, dictionaries)
  const numbersOf = ({ keys, groupCount }: GroupKeys) => {
    const numbers = new Int32Array(groupCount)
    table.assignKeys(keys, groupCount, numbers)
    return numbers
  }
  for (const keys of others) numbersOf(keys)
  const known = table.groupCount
  if (known === 0) return (rows) => ({ elsewhere: [], others: rows })
  return (rows) => {
    const numbers = numbersOf({ keys: keysOfCluster(rows, form), groupCount: rows.length })
    return {
      elsewhere: rows.filter((_, row) => numbers[row]! < known),
      others: rows.filter((_, row) => numbers[row]! >= known),
    }
  }
}
