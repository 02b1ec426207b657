/** Runs the stages of a plan over rows in memory, one after the other. */
import type { BoundSortKey } from '../../binder/bound.ts'
import { unreachable } from '../../error.ts'
import { sequence } from '../../kernel/sequence.ts'
import type { RelationStage } from '../../planner/physical-plan.ts'
import { takeOrder } from '../../planner/rules/drop-needless-sort.ts'
import { aggregateRows } from '../group/aggregate-rows.ts'
import { GroupRelation } from '../group/group-relation.ts'
import type { FinishResult } from '../task/task.ts'
import { compareRows } from './compare-rows.ts'
import { inferFields } from './infer.ts'
import { pivotRows } from './pivot.ts'
import type { Relation } from './relation.ts'
import { columnOrder, lateOrder, orderRows, type RowOrder } from './relation-order.ts'
import { gatherRelation, groupColumn, sliceRelation } from './relation-parts.ts'
import {
  filterRows,
  lastPosition,
  type StageContext,
  seekRows,
  sortRows,
  unpivotRows,
} from './relation-stage.ts'

export type StagesResult = Omit<FinishResult, 'kind'>

/** @param keyCount so many first group columns give the order that the rows are not in yet */
export function runStages(
  input: Relation,
  keyCount: number,
  stages: readonly RelationStage[],
  context: StageContext,
): StagesResult {
  let relation = input
  /** Group columns that give the order which the rows are still to be put in. */
  let unordered: readonly number[] = keysOf(keyCount)
  /** All group columns that are keys. */
  let keys = unordered
  let sort: readonly BoundSortKey[] = []
  for (const [i, stage] of stages.entries()) {
    const rowsBefore = relation.rowCount
    if (stage.kind === 'sort') {
      const wanted = wantedRows(stages[i + 1])
      const keysBefore = unordered
      const ties = (rows: Relation) => groupOrders(rows, keysBefore)
      relation = sortRows(relation, stage.keys, ties, wanted, context)
      unordered = []
      sort = stage.keys
      context.profile?.stage(stage, rowsBefore, relation.rowCount)
      continue
    }
    if (!ignoresOrder(stage)) {
      relation = inGroupOrder(relation, unordered)
      unordered = []
    }
    relation = runStage(stage, relation, keys, context)
    if (stage.kind === 'aggregate' || stage.kind === 'pivot') {
      keys =
        stage.kind === 'aggregate'
          ? keysOf(stage.keys.length)
          : keys.filter((key) => key !== stage.pivot.key)
      unordered = keys
    }
    if (!keepsOrder.has(stage.kind)) sort = []
    context.profile?.stage(stage, rowsBefore, relation.rowCount)
  }
  relation = inGroupOrder(relation, unordered)
  const lastSorted = sort.length > 0 ? lastPosition(relation, sort, context) : undefined
  const result = relation instanceof GroupRelation ? relation.toRelation() : relation
  return { relation: result, lastSorted }
}

/** Whether the stage gives the same from rows in any order, but for the order of what it gives. */
export function ignoresOrder(stage: RelationStage): boolean {
  if (stage.kind === 'aggregate') return !takeOrder(stage.aggregates)
  return stage.kind === 'filter'
}

const keepsOrder: ReadonlySet<RelationStage['kind']> = new Set(['filter', 'seek', 'limit'])

/** How many rows of a sort the stage after it leaves. */
function wantedRows(next: RelationStage | undefined): number {
  if (next?.kind !== 'limit' || next.count === undefined) return Number.POSITIVE_INFINITY
  return next.offset + next.count
}

function runStage(
  stage: Exclude<RelationStage, { kind: 'sort' }>,
  relation: Relation,
  keys: readonly number[],
  context: StageContext,
): Relation {
  switch (stage.kind) {
    case 'filter':
      return filterRows(relation, stage.predicates, context)
    case 'unpivot':
      return unpivotRows(relation, stage.unpivot, context)
    case 'aggregate':
      return aggregateRows(relation, stage, context)
    case 'pivot':
      return pivotRows(relation, stage.pivot, keys, context)
    case 'compare':
      return compareRows(relation, stage, context)
    case 'infer':
      return inferFields(relation, stage, context)
    case 'seek':
      return seekRows(relation, stage, context)
    case 'limit': {
      const from = Math.min(stage.offset, relation.rowCount)
      const to = Math.min(relation.rowCount, from + (stage.count ?? relation.rowCount))
      return sliceRelation(relation, from, to)
    }
    default:
      return unreachable(stage)
  }
}

function inGroupOrder(relation: Relation, keys: readonly number[]): Relation {
  if (keys.length === 0) return relation
  const { rowCount } = relation
  return gatherRelation(relation, orderRows(rowCount, groupOrders(relation, keys), rowCount))
}

/** The orders of group columns, nulls last. */
function groupOrders(relation: Relation, keys: readonly number[]): RowOrder[] {
  // Most rows are told apart by what they are sorted by.
  return keys.map((key) => lateOrder(() => columnOrder(groupColumn(relation, key)!, false)))
}

function keysOf(count: number): readonly number[] {
  return [...sequence(0, count)]
}
