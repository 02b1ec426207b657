/** Where a row of an answer stands in the whole order, for a page that begins after it. */
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { paginationKeyAt } from '../../vector/row-keys.ts'
import type { SortedRows } from '../column/row-list.ts'
import type { FinishResult, RowPlace } from '../task/task.ts'
import { hasLongKeys, positionOfRow } from './relation-rows.ts'

/** Of a row that scans gave. */
export function placeOfRow(plan: PhysicalPlan, rows: SortedRows, row: number): RowPlace {
  return plan.sort.length > 0
    ? {
        last: undefined,
        lastSorted: hasLongKeys(plan, rows, row) ? 'long' : positionOfRow(plan, rows, row),
      }
    : { last: paginationKeyAt(rows, row), lastSorted: undefined }
}

/** Of a row that the plan's stages left. */
export function placeOfFinished(
  plan: PhysicalPlan,
  { relation, lastSorted }: FinishResult,
  row: number,
): RowPlace {
  const { rows, rowCount } = relation
  return {
    last: rows !== undefined && isNewestFirst(plan) ? paginationKeyAt(rows, row) : undefined,
    lastSorted: row === rowCount - 1 ? lastSorted : undefined,
  }
}

/** Whether the rows that a plan leaves come in the order of their age. */
function isNewestFirst({ stage, sort, stages }: PhysicalPlan): boolean {
  let isByAge = stage.kind === 'rows' && sort.length === 0
  for (const { kind, ...rest } of stages) {
    switch (kind) {
      case 'sort':
        isByAge = 'keys' in rest && rest.keys.length === 0
        break
      case 'aggregate':
      case 'pivot':
      case 'compare':
      case 'infer':
        isByAge = false
        break
      case 'filter':
      case 'unpivot':
      case 'seek':
      case 'limit':
        break
    }
  }
  return isByAge
}
