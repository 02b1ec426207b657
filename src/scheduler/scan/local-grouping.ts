/** Tells tasks which of their groups are local: see `executor/group/local-groups.ts`. */
import { firstStages } from '../../executor/group/local-groups.ts'
import type { GroupsResult, LocalGrouping, TaskInput } from '../../executor/task/task.ts'
import type { TaskDictionary } from '../../executor/task/task-dictionaries.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'

/**
 * As many of a key's texts have to be in one segment only, so that it pays to finish their groups: a task ends early
 * for it, and each leaves its own groups of the others. Of 200,000 users who are in most segments of 10 M rows, tasks left
 * eight million groups to be merged: without that two threads take 0.6 times as long.
 */
const leastHomed = 1 / 2

/** The key that tells local groups from others; undefined when it would not help. */
export function localGroupingKey(
  plan: PhysicalPlan,
  dictionaries: readonly TaskDictionary[],
): number | undefined {
  const { stage } = plan
  if (stage.kind !== 'groups' || dictionaries.length === 0 || !firstStages(plan)) return undefined
  const counts = stage.keys.map((key) => {
    if (key.kind !== 'field') return 0
    const path = JSON.stringify(key.path)
    const found = dictionaries.find((each) => JSON.stringify(each.path) === path)
    if (!found?.isComplete) return 0
    const { count, homed } = found.dictionary
    return homed >= count * leastHomed ? count : 0
  })
  const most = Math.max(...counts)
  return most > 0 ? counts.indexOf(most) : undefined
}

/**
 * @param morsels what tasks take one after the other
 * @param scanned the groups of rows that are in no segment
 */
export function localGroupingOf(
  morsels: readonly (readonly TaskInput[])[],
  key: number,
  scanned: readonly GroupsResult[],
): LocalGrouping {
  const codes = scanned.flatMap(({ keys }) => {
    const values = keys[key]!
    return values.kind === 'shared' ? Array.from(values.codes).filter((code) => code >= 0) : []
  })
  const unitsOf = new Map<number, number>()
  for (const segment of morsels.flatMap((morsel) => [...new Set(morsel.flatMap(segmentOf))])) {
    unitsOf.set(segment, (unitsOf.get(segment) ?? 0) + 1)
  }
  const segments = [...unitsOf.keys()].filter((segment) => unitsOf.get(segment) === 1)
  return { key, segments, open: Int32Array.from(codes) }
}

function segmentOf(input: TaskInput): number[] {
  return input.kind === 'segment' ? [input.segment] : []
}
