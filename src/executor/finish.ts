/** Puts together what scans gave, and runs the stages of a plan over it in memory. */
import type { BoundSortKey } from '../binder/bound.ts'
import { assert, unreachable } from '../error.ts'
import type { RelationStage } from '../planner/physical-plan.ts'
import { mergeGroups } from './merge-groups.ts'
import { gatherRelation, type Relation, sliceRelation } from './relation.ts'
import { RelationReader } from './relation-batch.ts'
import { columnOrder, orderRows, type RowOrder } from './relation-order.ts'
import { relationOfRows } from './relation-rows.ts'
import {
  filterRows,
  lastPosition,
  type StageContext,
  seekRows,
  sortRows,
} from './relation-stage.ts'
import type { TaskStorage } from './row-run.ts'
import type { FinishResult, FinishTask } from './task.ts'
import { withTraceSets } from './trace-set.ts'

export function runFinish(task: FinishTask, storage: TaskStorage): FinishResult {
  const { plan, input, cancelled } = task
  const context: StageContext = {
    evaluation: withTraceSets(task.context, task.traceSets),
    cancelled,
    read: (relation) => new RelationReader(relation, plan.objects, storage, cancelled),
  }
  const { stage, then } = plan
  if (input.kind === 'rows') {
    return runStages(relationOfRows(plan, input.rows), 0, then, context)
  }
  assert(stage.kind === 'groups', 'only groups are merged')
  const groups = mergeGroups(stage, input.partials, cancelled)
  return runStages(groups, stage.keys.length, then, context)
}

/** @param keyCount so many first group columns give the order that the rows are not in yet */
function runStages(
  input: Relation,
  keyCount: number,
  stages: readonly RelationStage[],
  context: StageContext,
): FinishResult {
  let relation = input
  let unordered = keyCount
  let sort: readonly BoundSortKey[] = []
  for (const [i, stage] of stages.entries()) {
    if (stage.kind === 'sort') {
      const next = stages[i + 1]
      const end = next?.kind === 'limit' && next.count !== undefined && next.offset + next.count
      const wanted = end || Number.POSITIVE_INFINITY
      relation = sortRows(relation, stage.keys, groupOrders(relation, unordered), wanted, context)
      unordered = 0
      sort = stage.keys
      continue
    }
    if (stage.kind !== 'filter') {
      relation = inGroupOrder(relation, unordered)
      unordered = 0
    }
    relation = runStage(stage, relation, context)
    if (stage.kind === 'aggregate') unordered = stage.keys.length
    if (!keepsOrder.has(stage.kind)) sort = []
  }
  relation = inGroupOrder(relation, unordered)
  const lastSorted = sort.length > 0 ? lastPosition(relation, sort, context) : undefined
  return { kind: 'finish', relation, lastSorted }
}

const keepsOrder: ReadonlySet<RelationStage['kind']> = new Set(['filter', 'seek', 'limit'])

function runStage(
  stage: Exclude<RelationStage, { kind: 'sort' }>,
  relation: Relation,
  context: StageContext,
): Relation {
  switch (stage.kind) {
    case 'filter':
      return filterRows(relation, stage.predicates, context)
    case 'seek':
      return seekRows(relation, stage, context)
    case 'limit': {
      const from = Math.min(stage.offset, relation.rowCount)
      const to = Math.min(relation.rowCount, from + (stage.count ?? relation.rowCount))
      return sliceRelation(relation, from, to)
    }
    case 'unpivot':
    case 'aggregate':
    case 'pivot':
    case 'compare':
    case 'infer':
      return relation
    default:
      return unreachable(stage)
  }
}

function inGroupOrder(relation: Relation, keyCount: number): Relation {
  if (keyCount === 0) return relation
  const { rowCount } = relation
  return gatherRelation(relation, orderRows(rowCount, groupOrders(relation, keyCount), rowCount))
}

/** The orders of the first group columns, nulls last. */
function groupOrders({ groupColumns }: Relation, keyCount: number): RowOrder[] {
  return groupColumns.slice(0, keyCount).map((column) => columnOrder(column, false))
}
