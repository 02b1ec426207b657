import type { BoundGrouping } from '../../binder/bound.ts'
import { addStates, beginBatch, endBatch } from '../../kernel/arena.ts'
import { allRows } from '../filter/filtered-rows.ts'
import type { Relation } from '../relation/relation.ts'
import { withoutUnreadRows } from '../relation/relation-parts.ts'
import type { StageContext } from '../relation/relation-stage.ts'
import type { PartialGroups } from '../task/task.ts'
import { TaskDictionaries } from '../task/task-dictionaries.ts'
import { GroupSink } from './group-sink.ts'
import { mergeGroups } from './merge-groups.ts'

/** Groups of rows in memory, in the order in which they are first seen. */
export function aggregateRows(
  relation: Relation,
  grouping: BoundGrouping,
  context: StageContext,
): Relation {
  return mergeGroups(grouping, [partialGroups(relation, grouping, context)], [])
}

/** Groups of some of the rows, to be merged with those of others. */
export function partialGroups(
  relation: Relation,
  grouping: BoundGrouping,
  { evaluation, read }: StageContext,
): PartialGroups {
  const { keys, aggregates, row } = grouping
  const asked = aggregates.flatMap(({ arguments: given, filter }) => {
    return filter ? [...given, filter] : given
  })
  const asRead = row ? relation : withoutUnreadRows(relation, [...keys, ...asked])
  addStates()
  const sink = new GroupSink({ ...grouping, kind: 'groups' }, evaluation, new TaskDictionaries([]))
  for (const { batch } of read(asRead).batches()) {
    beginBatch()
    sink.add(undefined, batch, allRows)
  }
  endBatch()
  return sink.groups()
}
