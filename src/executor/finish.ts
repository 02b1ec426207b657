/** Puts together what scans gave, and runs the stages of a plan over it in memory. */
import { assert } from '../error.ts'
import { beginStates } from '../kernel/arena.ts'
import { withSemiJoinSets } from './expression/semi-join-set.ts'
import type { GroupSink } from './group/group-sink.ts'
import { runStagesOfAll } from './group/local-groups.ts'
import { mergeGroups } from './group/merge-groups.ts'
import type { Relation } from './relation/relation.ts'
import { RelationReader } from './relation/relation-batch.ts'
import { concatenateRows, relationOfRows } from './relation/relation-rows.ts'
import type { StageContext } from './relation/relation-stage.ts'
import { segmentsOf } from './relation/row-columns.ts'
import { runStages, type StagesResult } from './relation/run-stages.ts'
import type { TaskStorage } from './scan/row-run.ts'
import type { Scanned } from './scan.ts'
import type { FinishResult, FinishTask, ScanTask } from './task/task.ts'
import { TaskProfile } from './task/task-profile.ts'

export function runFinish(task: FinishTask, storage: TaskStorage): FinishResult {
  const { plan, input, segments } = task
  const profile = task.isProfiled ? new TaskProfile(plan) : undefined
  const context: StageContext = {
    evaluation: withSemiJoinSets(task.context, task.semiJoinSets),
    profile,
    read: (relation) => new RelationReader(relation, plan, { segments, storage }),
  }
  const { stage, stages } = plan
  if (input.kind === 'rows') {
    const result = runStages(relationOfRows(plan, concatenateRows(input.lists)), 0, stages, context)
    return finished(result, profile)
  }
  assert(stage.kind === 'groups', 'only groups are merged')
  beginStates()
  const groups = mergeGroups(stage, input.partials, input.dictionaries)
  const partialCount = input.partials.reduce((sum, { groupCount }) => sum + groupCount, 0)
  profile?.mark('merge', partialCount, groups.rowCount)
  return finished(runStagesOfAll(groups, input.local, plan, context), profile)
}

/** Runs the stages over what one task has found in all of a scan. */
export function finishScanned(
  sink: GroupSink,
  { evaluation, profile }: Scanned,
  { plan, inputs }: Pick<ScanTask, 'plan' | 'inputs'>,
  storage: TaskStorage,
): FinishResult {
  const groups = sink.relation()
  profile?.mark('sink', 0, groups.rowCount)
  // Nothing is to be merged.
  profile?.mark('merge', groups.rowCount, groups.rowCount)
  const segments = segmentsOf(inputs)
  const read = (relation: Relation) => new RelationReader(relation, plan, { segments, storage })
  return finished(runStagesOfAll(groups, [], plan, { evaluation, profile, read }), profile)
}

function finished(result: StagesResult, profile: TaskProfile | undefined): FinishResult {
  const { relation, lastSorted } = result
  if (!profile) return { kind: 'finish', relation, lastSorted }
  return { kind: 'finish', relation, lastSorted, operators: profile.operators }
}
