/** What a query computes, as a tree of plain data; rules rewrite it, a backend turns it physical. */
import type {
  BoundAggregate,
  BoundExpression,
  BoundObject,
  BoundQuery,
  BoundSortKey,
  OutputColumn,
} from '../binder/bound.ts'
import type { RowKey } from '../type/transaction.ts'

export type LogicalPlan =
  /** Rows of the objects, newest first. */
  | {
      readonly kind: 'scan'
      readonly objects: readonly BoundObject[]
      /** Rows that pass all of them are kept. */
      readonly predicates: readonly BoundExpression[]
      /** Only rows older than this pagination key. */
      readonly after: RowKey | undefined
    }
  /** Reads the records of these ids instead of scanning. */
  | {
      readonly kind: 'look_up'
      readonly objects: readonly BoundObject[]
      readonly ids: readonly string[]
      readonly predicates: readonly BoundExpression[]
      readonly after: RowKey | undefined
    }
  /** Gives no rows. */
  | { readonly kind: 'empty'; readonly objects: readonly BoundObject[] }
  /** Keeps rows for which the predicate is true. */
  | { readonly kind: 'filter'; readonly predicate: BoundExpression; readonly input: LogicalPlan }
  | {
      readonly kind: 'project'
      readonly star: boolean
      readonly columns: readonly OutputColumn[]
      readonly input: LogicalPlan
    }
  /** One row per distinct combination of keys; without keys, exactly one row. */
  | {
      readonly kind: 'aggregate'
      readonly keys: readonly BoundExpression[]
      readonly aggregates: readonly BoundAggregate[]
      readonly input: LogicalPlan
    }
  /** Nulls last; ties keep the order of the input. */
  | { readonly kind: 'sort'; readonly keys: readonly BoundSortKey[]; readonly input: LogicalPlan }
  | {
      readonly kind: 'limit'
      /** Undefined: all that follow the offset. */
      readonly count: number | undefined
      readonly offset: number
      readonly input: LogicalPlan
    }
  /** A sort of which only the first `offset + count` rows are kept. */
  | {
      readonly kind: 'top_k'
      readonly keys: readonly BoundSortKey[]
      readonly count: number
      readonly offset: number
      readonly input: LogicalPlan
    }

/** The plan as the query says it, before any rule. */
export function planLogical(query: BoundQuery): LogicalPlan {
  let plan: LogicalPlan = {
    kind: 'scan',
    objects: query.objects,
    predicates: [],
    after: query.after,
  }
  if (query.filter) plan = { kind: 'filter', predicate: query.filter, input: plan }
  const { output } = query
  if (output.kind === 'groups') {
    plan = { kind: 'aggregate', keys: output.keys, aggregates: output.aggregates, input: plan }
  }
  if (query.sort.length > 0) plan = { kind: 'sort', keys: query.sort, input: plan }
  if (query.limit !== undefined || query.offset > 0) {
    plan = { kind: 'limit', count: query.limit, offset: query.offset, input: plan }
  }
  const star = output.kind === 'rows' && output.star
  return { kind: 'project', star, columns: output.columns, input: plan }
}

/** Applies `change` to every node, inputs first. */
export function mapPlan(
  plan: LogicalPlan,
  change: (plan: LogicalPlan) => LogicalPlan,
): LogicalPlan {
  if (!('input' in plan)) return change(plan)
  const input = mapPlan(plan.input, change)
  return change(input === plan.input ? plan : { ...plan, input })
}
