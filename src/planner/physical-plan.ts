/**
 * How the embedded engine runs a query: one access path and what is made of its rows. Plain data, so
 * that it can be printed and sent to a worker.
 */
import {
  type BoundAggregate,
  type BoundExpression,
  type BoundObject,
  type BoundSortKey,
  fieldsOf,
  type OutputColumn,
} from '../binder/bound.ts'
import { unreachable } from '../error.ts'
import type { RowKey } from '../type/transaction.ts'
import type { LogicalPlan } from './logical-plan.ts'

export type AccessPath =
  | { readonly kind: 'scan' }
  /** Reads the newest visible version of these records from the row store. */
  | { readonly kind: 'look_up'; readonly ids: readonly string[] }
  | { readonly kind: 'empty' }

/** Rows leave in `sort` order, or newest first when it is empty. */
export interface RowsStage {
  readonly kind: 'rows'
  readonly star: boolean
  readonly columns: readonly OutputColumn[]
}

/** Groups are aggregated in part by each task, and merged. */
export interface GroupsStage {
  readonly kind: 'groups'
  readonly keys: readonly BoundExpression[]
  readonly aggregates: readonly BoundAggregate[]
  readonly columns: readonly OutputColumn[]
}

export interface PhysicalPlan {
  readonly access: AccessPath
  readonly objects: readonly BoundObject[]
  readonly predicates: readonly BoundExpression[]
  readonly after: RowKey | undefined
  readonly stage: RowsStage | GroupsStage
  readonly sort: readonly BoundSortKey[]
  /** Undefined: all. */
  readonly limit: number | undefined
  readonly offset: number
  /** Top-level fields that a scan reads: those of predicates, keys, arguments and sort keys. */
  readonly scannedFields: readonly string[]
}

export function planPhysical(plan: LogicalPlan): PhysicalPlan {
  let output: { star: boolean; columns: readonly OutputColumn[] } = { star: false, columns: [] }
  let groups: Omit<GroupsStage, 'kind' | 'columns'> | undefined
  let sort: readonly BoundSortKey[] = []
  let limit: number | undefined
  let offset = 0
  let node = plan
  while ('input' in node) {
    switch (node.kind) {
      case 'project':
        output = { star: node.star, columns: node.columns }
        break
      case 'aggregate':
        groups = { keys: node.keys, aggregates: node.aggregates }
        break
      case 'sort':
        sort = node.keys
        break
      case 'limit':
        limit = node.count
        offset = node.offset
        break
      case 'top_k':
        sort = node.keys
        limit = node.count
        offset = node.offset
        break
      case 'filter':
        break
      default:
        return unreachable(node)
    }
    node = node.input
  }
  const predicates = node.kind === 'empty' ? [] : node.predicates
  const scanned = [
    ...predicates,
    ...(groups
      ? [...groups.keys, ...groups.aggregates.flatMap((a) => a.argument ?? [])]
      : sort.map((key) => key.expression)),
  ]
  return {
    access: accessPath(node),
    objects: node.objects,
    predicates,
    after: node.kind === 'empty' ? undefined : node.after,
    stage: groups
      ? { kind: 'groups', ...groups, columns: output.columns }
      : { kind: 'rows', ...output },
    sort,
    limit,
    offset,
    scannedFields: [...new Set(fieldsOf(scanned).map((path) => String(path[0])))].sort(),
  }
}

function accessPath(
  node: Extract<LogicalPlan, { kind: 'scan' | 'look_up' | 'empty' }>,
): AccessPath {
  return node.kind === 'look_up' ? { kind: 'look_up', ids: node.ids } : { kind: node.kind }
}
