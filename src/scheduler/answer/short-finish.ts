/** Whether what scans gave is finished, and printed, on the main thread, as that is shorter than the way to a worker. */
import type { Relation } from '../../executor/relation/relation.ts'
import { bytesOf } from '../../executor/task/held-bytes.ts'
import type { FinishTask } from '../../executor/task/task.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { shortMerge } from '../scan/scan-rows.ts'
import { multipliesRows } from '../scan/small-work.ts'

/** Stored rows up to which stages over them are run on the main thread. */
const shortStages = 100

/** Bytes of groups up to which merging them, or printing them, takes the main thread some milliseconds. */
const shortMergeBytes = 2 ** 18

export function isShortFinish(plan: PhysicalPlan, input: FinishTask['input']): boolean {
  if (multipliesRows(plan)) return false
  if (input.kind === 'rows') return input.rows.object.length <= shortStages
  const total = input.partials.reduce((sum, { groupCount }) => sum + groupCount, 0)
  const { stage, then } = plan
  const readsRows = stage.kind === 'groups' && stage.row !== undefined && then.length > 0
  if (total > (readsRows ? shortStages : shortMerge)) return false
  // Of few groups there may be many values.
  return bytesOf(input.partials) <= shortMergeBytes
}

/** @param relation rows that were made, or stored ones that are still to be read */
export function isShortPrint(relation: Relation): boolean {
  if (relation.rows !== undefined || relation.rowCount > shortMerge) return false
  return bytesOf(relation) <= shortMergeBytes
}
