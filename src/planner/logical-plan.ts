/** What a query computes, as a tree of plain data; rules rewrite it, a backend turns it physical. */
import type {
  BoundExpression,
  BoundGrouping,
  BoundObject,
  BoundPivot,
  BoundSortKey,
  BoundUnpivot,
  OutputColumn,
  Preview,
  SortPosition,
} from '../binder/bound.ts'
import type { RowKey } from '../type/transaction.ts'
import type { Path } from '../type/value.ts'

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
      readonly kind: 'unpivot'
      readonly unpivot: BoundUnpivot
      readonly input: LogicalPlan
    }
  | ({ readonly kind: 'aggregate'; readonly input: LogicalPlan } & BoundGrouping)
  | { readonly kind: 'pivot'; readonly pivot: BoundPivot; readonly input: LogicalPlan }
  /** Pairs the rows of the first object with those of each other one that have the same key. */
  | {
      readonly kind: 'compare'
      /** Numbers of the objects, the base first. */
      readonly objects: readonly number[]
      readonly key: BoundExpression
      readonly scores: BoundExpression
      readonly metrics: BoundExpression
      readonly input: LogicalPlan
    }
  /** Describes the fields of its rows. */
  | {
      readonly kind: 'infer'
      readonly fields: readonly Path[]
      readonly depth: number
      readonly input: LogicalPlan
    }
  /** Nulls last; ties keep the order of the input. Without keys, newest first. */
  | { readonly kind: 'sort'; readonly keys: readonly BoundSortKey[]; readonly input: LogicalPlan }
  /** Of sorted rows, those that come after a place in the order. */
  | {
      readonly kind: 'seek'
      readonly keys: readonly BoundSortKey[]
      readonly after: SortPosition | RowKey
      readonly input: LogicalPlan
    }
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
  | {
      readonly kind: 'project'
      readonly star: boolean
      readonly columns: readonly OutputColumn[]
      readonly preview: Preview | undefined
      readonly input: LogicalPlan
    }

/** A query's plan, and those of the sets of traces that its conditions ask for. */
export interface LogicalQuery {
  /**
   * Each gives groups by object and trace. A plan may ask for the sets before it; the query's own
   * plan, for all of them.
   */
  readonly semiJoinSets: readonly LogicalPlan[]
  readonly plan: LogicalPlan
}
