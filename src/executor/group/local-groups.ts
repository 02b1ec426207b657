/**
 * Groups that one task knows in full. A shared dictionary tells which texts only one segment has;
 * a group with such a key is local when its task reads the whole segment, as most traces are. Its
 * task runs the plan's next stages over it right away, so that of many groups few leave the task:
 * those of other texts, to be merged, and what the stages leave of the local ones.
 */
import { assert } from '../../error.ts'
import { addStates, newTable } from '../../kernel/arena.ts'
import type { PhysicalPlan, RelationStage } from '../../planner/physical-plan.ts'
import { severalHomes } from '../../vector/shared-dictionary.ts'
import type { Relation } from '../relation/relation.ts'
import { concatenateRelations } from '../relation/relation-parts.ts'
import type { StageContext } from '../relation/relation-stage.ts'
import { ignoresOrder, runStages, type StagesResult } from '../relation/run-stages.ts'
import type { LocalGrouping, LocalGroups, PartialGroups } from '../task/task.ts'
import { partialGroups } from './aggregate-rows.ts'
import type { GroupSink } from './group-sink.ts'
import { mergeGroups } from './merge-groups.ts'

type Aggregate = Extract<RelationStage, { kind: 'aggregate' }>

/** Rows up to which each task keeps its own first ones. */
const maximumKept = 10_000

/** The first stages of a plan, as far as tasks can run them over their own groups. */
interface FirstStages {
  /** Filters; before an aggregation unpivots, too. */
  readonly ofEachRow: readonly RelationStage[]
  /** Rows are put in order and cut, by `sort` and what follows up to a limit, or aggregated. */
  readonly next:
    | { readonly kind: 'order'; readonly stages: readonly RelationStage[] }
    | { readonly kind: 'aggregate'; readonly stage: Aggregate }
  /** What is left to do with all rows: to order them again, but not to aggregate. */
  readonly rest: readonly RelationStage[]
}

/** Undefined when a plan's stages need all groups at once. */
export function firstStages({ stages }: Pick<PhysicalPlan, 'stages'>): FirstStages | undefined {
  const count = stages.findIndex(({ kind }) => kind !== 'filter' && kind !== 'unpivot')
  const ofEachRow = stages.slice(0, count)
  const [first, second, third] = stages.slice(count)
  if (count < 0 || !first) return undefined
  if (first.kind === 'aggregate') {
    if (!ignoresOrder(first)) return undefined
    return { ofEachRow, next: { kind: 'aggregate', stage: first }, rest: stages.slice(count + 1) }
  }
  if (ofEachRow.some(({ kind }) => kind === 'unpivot')) return undefined
  const seek = second?.kind === 'seek' ? [second] : []
  const limit = second?.kind === 'seek' ? third : second
  if (first.kind !== 'sort' || limit?.kind !== 'limit' || limit.count === undefined)
    return undefined
  const wanted = limit.offset + limit.count
  if (wanted > maximumKept) return undefined
  const order: RelationStage[] = [first, ...seek, { kind: 'limit', count: wanted, offset: 0 }]
  const rest = [first, ...stages.slice(count + seek.length + 1)]
  return { ofEachRow, next: { kind: 'order', stages: order }, rest }
}

/** Parts a task's groups into local ones, with the first stages run over them, and the others. */
export function finishLocalGroups(
  sink: GroupSink,
  localGrouping: LocalGrouping,
  plan: PhysicalPlan,
  context: StageContext,
): { readonly open: PartialGroups; readonly local: LocalGroups } {
  addStates()
  const { local, open } = partGroups(sink, localGrouping)
  const relation = sink.relation().gather(local)
  context.profile?.mark('sink', 0, local.length)
  return { open: sink.groups(open), local: finishLocal(relation, plan, context) }
}

/** Runs the first stages of the plan over groups that are nowhere else. */
export function finishLocal(
  groups: Relation,
  plan: PhysicalPlan,
  context: StageContext,
): LocalGroups {
  const first = firstStages(plan)
  assert(first, 'groups are local for stages that need all of them')
  return runFirst(groups, first, keyCountOf(plan), context)
}

function keyCountOf({ stage }: PhysicalPlan): number {
  return stage.kind === 'groups' ? stage.keys.length : 0
}

interface PartedGroups {
  readonly local: Int32Array
  readonly open: Int32Array
}

function partGroups(sink: GroupSink, localGrouping: LocalGrouping): PartedGroups {
  const { dictionary, codes } = sink.sharedKey(localGrouping.key)
  const { homes, count } = dictionary
  const isElsewhere = new Uint8Array(localGrouping.open.length === 0 ? 0 : count)
  for (let i = 0; i < localGrouping.open.length; i++) isElsewhere[localGrouping.open[i]!] = 1
  const isWhole = new Uint8Array(Math.max(0, ...localGrouping.segments) + 1)
  for (const segment of localGrouping.segments) isWhole[segment] = 1
  // The local ones from the start on, the others from the end.
  const groups = newTable(codes.length, 0)
  let [localCount, openFrom] = [0, codes.length]
  for (let group = 0; group < codes.length; group++) {
    const code = codes[group]!
    const home = code < 0 ? severalHomes : homes[code]!
    if (home >= 0 && isWhole[home] === 1 && !isElsewhere[code]) groups[localCount++] = group
    else groups[--openFrom] = group
  }
  return { local: groups.subarray(0, localCount), open: groups.subarray(openFrom).reverse() }
}

function runFirst(
  relation: Relation,
  { ofEachRow, next }: FirstStages,
  keyCount: number,
  context: StageContext,
): LocalGroups {
  if (next.kind === 'order') {
    const stages = [...ofEachRow, ...next.stages]
    return { kind: 'rows', relation: runStages(relation, keyCount, stages, context).relation }
  }
  const rows = ofEachRow.length === 0 ? relation : runAll(relation, ofEachRow, context)
  return { kind: 'groups', groups: partialGroups(rows, next.stage, context) }
}

/** The order of rows does not matter. */
function runAll(relation: Relation, stages: readonly RelationStage[], context: StageContext) {
  return runStages(relation, 0, stages, context).relation
}

/** Runs all stages: over the merged groups, and what tasks have made of local ones. */
export function runStagesOfAll(
  groups: Relation,
  local: readonly LocalGroups[],
  plan: PhysicalPlan,
  context: StageContext,
): StagesResult {
  const { stages } = plan
  const keyCount = keyCountOf(plan)
  if (local.length === 0) return runStages(groups, keyCount, stages, context)
  const first = firstStages(plan)
  assert(first, 'groups were local for stages that need all of them')
  const parts = [runFirst(groups, first, keyCount, context), ...local]
  if (first.next.kind === 'order') {
    const relations = parts.flatMap((part) => (part.kind === 'rows' ? [part.relation] : []))
    return runStages(concatenateRelations(relations), keyCount, first.rest, context)
  }
  const partials = parts.flatMap((part) => (part.kind === 'groups' ? [part.groups] : []))
  const merged = mergeGroups(first.next.stage, partials, [])
  return runStages(merged, first.next.stage.keys.length, first.rest, context)
}
