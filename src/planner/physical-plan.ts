/**
 * How the embedded engine runs a query: one access path, what is made of its rows as they are read,
 * and stages over what that leaves in memory. Plain data, so that it can be printed and sent to a
 * worker.
 */
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

export type AccessPath =
  /** Reads what may pass the predicates; `by`: the one, by its place, whose texts indexes look for. */
  | { readonly kind: 'scan'; readonly order: ScanOrder; readonly by: number | undefined }
  /** Reads the newest visible version of these records from the row store. */
  | { readonly kind: 'look_up'; readonly ids: readonly string[] }
  | { readonly kind: 'empty' }

/**
 * Which rows are read first, as these may be enough:
 *
 * - `newest`: the newest rows
 * - `best`: those that may have the best values of the first sort key
 * - `newest_traces`: the newest rows, and then all of their traces
 * - `metadata`: none, where metadata has the aggregates of all rows of a granule
 * - `any`: all that may pass are read
 */
export type ScanOrder = 'newest' | 'best' | 'newest_traces' | 'metadata' | 'any'

/** Rows leave in `sort` order, or newest first when it is empty. */
export interface RowsStage {
  readonly kind: 'rows'
  /** Hidden fields that only the scan knows, to be kept with each row. */
  readonly carried: readonly string[]
}

/** Groups are aggregated in part by each task, and merged. They leave in the order of their keys. */
export interface GroupsStage extends BoundGrouping {
  readonly kind: 'groups'
}

/** What is made of rows in memory (`executor/relation/relation.ts`), one stage after the other. */
export type RelationStage =
  | { readonly kind: 'filter'; readonly predicates: readonly BoundExpression[] }
  | { readonly kind: 'unpivot'; readonly unpivot: BoundUnpivot }
  | ({ readonly kind: 'aggregate' } & BoundGrouping)
  | { readonly kind: 'pivot'; readonly pivot: BoundPivot }
  /**
   * Gives one row per pair: of each row of the first object with a row of the same key of another,
   * the k-th with the k-th by age; rows without a partner come alone. Fields are those of the row
   * of the first object, or of the only one. Columns:
   *
   * - `comparison_key`
   * - `experiment_id`, `scores`, `metrics`: of the row of the first object; null when there is none
   * - `compared`: `{experiment_id, id, root_span_id, created, output, error, tags, scores, metrics}`
   *   of the other one, or null
   * - `score_differences`, `metric_differences`: by name, the other one's less the first one's, of
   *   the names that both have numbers for
   */
  | {
      readonly kind: 'compare'
      readonly objects: readonly number[]
      readonly key: BoundExpression
      readonly scores: BoundExpression
      readonly metrics: BoundExpression
    }
  /**
   * Gives one row per field path that the rows have, `fields` being where to look (empty: all
   * columns) and `depth` how many levels of objects are entered, in the order of the paths. Columns: `field` (as text), `path`, `types` (how many of
   * each kind), `count` (not null), `share` (of the rows), `distinct`, `top_values`
   * (`[{value, count}]`, most frequent first, at most 10).
   */
  | { readonly kind: 'infer'; readonly fields: readonly Path[]; readonly depth: number }
  /** Without keys: newest first. Ties: newest first, then by object and version. */
  | { readonly kind: 'sort'; readonly keys: readonly BoundSortKey[] }
  | {
      readonly kind: 'seek'
      readonly keys: readonly BoundSortKey[]
      readonly after: SortPosition | RowKey
    }
  | { readonly kind: 'limit'; readonly count: number | undefined; readonly offset: number }

export interface Output {
  readonly star: boolean
  readonly columns: readonly OutputColumn[]
  readonly preview: Preview | undefined
}

export interface PhysicalPlan {
  readonly access: AccessPath
  readonly objects: readonly BoundObject[]
  readonly predicates: readonly BoundExpression[]
  readonly after: RowKey | undefined
  /** Of a row that passes the predicates, each unpivot in turn makes rows. */
  readonly unpivots: readonly BoundUnpivot[]
  /** Conditions on rows that unpivots have made. */
  readonly unpivotedPredicates: readonly BoundExpression[]
  readonly stage: RowsStage | GroupsStage
  /** Of a rows stage; empty for groups. */
  readonly sort: readonly BoundSortKey[]
  /** Only rows after this place in the order of `sort`. */
  readonly afterSorted: SortPosition | undefined
  /** Of a rows stage. Undefined: all. */
  readonly limit: number | undefined
  readonly offset: number
  readonly stages: readonly RelationStage[]
  readonly output: Output
  /** Top-level fields that a scan reads: those of predicates, keys, arguments and sort keys. */
  readonly scannedFields: readonly string[]
}

export interface PhysicalQuery {
  /** In the order in which they are found; each leaves groups whose keys are object and trace. */
  readonly semiJoinSets: readonly PhysicalPlan[]
  readonly plan: PhysicalPlan
}
