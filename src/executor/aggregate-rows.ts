import type { BoundGrouping } from '../binder/bound.ts'
import { GroupSink } from './group-sink.ts'
import { mergeGroups } from './merge-groups.ts'
import type { Relation } from './relation.ts'
import type { StageContext } from './relation-stage.ts'
import { TaskDictionaries } from './task-dictionaries.ts'

/** Groups of rows in memory, in the order in which they are first seen. */
export function aggregateRows(
  relation: Relation,
  grouping: BoundGrouping,
  { evaluation, read, cancelled }: StageContext,
): Relation {
  const sink = new GroupSink({ ...grouping, kind: 'groups' }, evaluation, new TaskDictionaries([]))
  for (const { batch } of read(relation).batches()) sink.add(undefined, batch, undefined)
  return mergeGroups(grouping, [sink.groups()], [], cancelled)
}
