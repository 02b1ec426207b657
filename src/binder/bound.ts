/**
 * The bound query: every name is resolved, every function exists, every expression has a type. It is
 * plain data (it crosses threads), and it no longer knows how it was written.
 */
import type { AggregateName } from '../function/aggregate.ts'
import type { ArithmeticOperator, ComparisonOperator } from '../parser/ast.ts'
import type { PlainValue } from '../type/plain.ts'
import type { ObjectType } from '../type/record.ts'
import type { RowKey } from '../type/transaction.ts'
import type { Path } from '../type/value.ts'

/** What the binder knows of a value's kind; `json` is any kind, found out from the data. */
export type StaticType = 'boolean' | 'number' | 'string' | 'timestamp' | 'interval' | 'json'

/** A value that survives structured cloning; `Timestamp` and `Interval` have nodes of their own. */
export type ConstantValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly ConstantValue[]
  | { readonly [key: string]: ConstantValue }

export type BoundExpression =
  | { readonly kind: 'constant'; readonly value: ConstantValue; readonly type: StaticType }
  | {
      readonly kind: 'timestamp'
      readonly ms: number
      /** Not there if it would be 0. */
      readonly microseconds?: number
      readonly type: 'timestamp'
    }
  | {
      readonly kind: 'interval'
      readonly months: number
      readonly ms: number
      readonly type: 'interval'
    }
  /**
   * A row's field, by its path from the top: of a record, or of what a stage has made of records
   * (`hiddenField`, the columns of a pivot or a comparison).
   */
  | { readonly kind: 'field'; readonly path: Path; readonly type: StaticType }
  /** A column of the aggregation below: the group keys, the aggregates, values of the chosen row. */
  | { readonly kind: 'group_column'; readonly index: number; readonly type: StaticType }
  /** A step into a value that is no field. */
  | {
      readonly kind: 'access'
      readonly operand: BoundExpression
      readonly path: Path
      readonly type: 'json'
    }
  /**
   * Whether the span's trace is in a set of traces that was found before (`BoundQuery.semiJoinSets`); or
   * the span itself in the set of those that repeat the usage of others.
   */
  | {
      readonly kind: 'in_traces'
      /** Of the bound query `repeatedUsageSet`, too: plans say which of their sets that is. */
      readonly set: number
      /** `hiddenField.object` */
      readonly object: BoundExpression
      /** `root_span_id`; of `repeatedUsageSet`, `id` */
      readonly trace: BoundExpression
      readonly type: 'boolean'
    }
  | {
      readonly kind: 'call'
      readonly name: string
      readonly arguments: readonly BoundExpression[]
      readonly type: StaticType
    }
  | {
      readonly kind: 'comparison'
      readonly operator: ComparisonOperator
      readonly left: BoundExpression
      readonly right: BoundExpression
      readonly type: 'boolean'
    }
  | {
      readonly kind: 'arithmetic'
      readonly operator: ArithmeticOperator
      readonly left: BoundExpression
      readonly right: BoundExpression
      readonly type: StaticType
    }
  | { readonly kind: 'negate'; readonly operand: BoundExpression; readonly type: StaticType }
  | { readonly kind: 'not'; readonly operand: BoundExpression; readonly type: 'boolean' }
  | {
      readonly kind: 'and' | 'or'
      readonly operands: readonly BoundExpression[]
      readonly type: 'boolean'
    }
  | { readonly kind: 'is_null'; readonly operand: BoundExpression; readonly type: 'boolean' }
  | {
      readonly kind: 'like'
      readonly operand: BoundExpression
      readonly pattern: BoundExpression
      readonly caseInsensitive: boolean
      readonly type: 'boolean'
    }
  | {
      readonly kind: 'includes'
      readonly haystack: BoundExpression
      readonly needle: BoundExpression
      readonly type: 'boolean'
    }
  | {
      readonly kind: 'match'
      readonly operand: BoundExpression
      readonly query: BoundExpression
      /** Of `search`: null has nothing of what is looked for. */
      readonly isSearch?: true
      readonly type: 'boolean'
    }
  | {
      readonly kind: 'in'
      readonly operand: BoundExpression
      readonly list: BoundExpression
      readonly type: 'boolean'
    }
  | {
      readonly kind: 'conditional'
      readonly branches: readonly {
        readonly condition: BoundExpression
        readonly result: BoundExpression
      }[]
      readonly otherwise: BoundExpression
      readonly type: StaticType
    }
  | {
      readonly kind: 'array'
      readonly items: readonly BoundExpression[]
      readonly type: 'json'
    }
  | {
      readonly kind: 'object'
      readonly entries: readonly (readonly [key: string, value: BoundExpression])[]
      readonly type: 'json'
    }

export interface BoundAggregate {
  readonly name: AggregateName
  /** What is aggregated, row by row; `count` without any counts rows. */
  readonly arguments: readonly BoundExpression[]
  /** Constant further arguments: the `p` of `percentile`. */
  readonly parameters: readonly ConstantValue[]
  /** Of `distinct` arguments, equal ones count once. */
  readonly distinct: boolean
  /** Only rows for which it is true count. */
  readonly filter: BoundExpression | undefined
  readonly type: StaticType
}

/** An object that is read, with what its rows derive from it. */
export interface BoundObject {
  readonly number: number
  readonly type: ObjectType
  readonly id: string
  readonly projectId: string
  readonly organizationId: string
  /** Whether its rows are all versions of its records. */
  readonly isHistory?: boolean
}

export interface OutputColumn {
  readonly name: string
  readonly expression: BoundExpression
}

export interface BoundSortKey {
  readonly expression: BoundExpression
  readonly descending: boolean
}

/**
 * Fields that no text can name: what stages know of rows beyond their values. Batches of the executor
 * give them like any field.
 */
export const hiddenField = {
  /** The number of the object that holds the row. */
  object: '#object',
  /** Of columns of an aggregation, by their indexes. */
  groupColumn: '#group',
  /** The key or index, and the element, that the i-th unpivot has made the row of. */
  unpivotName: (i: number): string => `#name${i}`,
  unpivotValue: (i: number): string => `#value${i}`,
  /** Of a comparison: what `compared` has of its trace, not of its row. */
  comparedScores: '#scores',
  comparedMetrics: '#metrics',
} as const

/** Stands for the set of the ids of spans whose usage other spans report, too. */
export const repeatedUsageSet = -1

/** A pivot may make other columns whose names begin alike. */
export function isHiddenField(name: string): boolean {
  return /^#(?:object|scores|metrics|(?:name|value)\d+)$/.test(name)
}

/** Makes a row of each element of an array or each entry of an object; nulls give none. */
export interface BoundUnpivot {
  readonly expression: BoundExpression
  /** Its place among the query's unpivots: `hiddenField.unpivotName(index)` and `…Value(index)`. */
  readonly index: number
}

/** A stored row that stands for its group: fields of the group are read from it. */
export interface RowChoice {
  /** Rows for which it is true go before all others. */
  readonly preferred: BoundExpression | undefined
  /** Which of them, by pagination key. */
  readonly pick: 'oldest' | 'newest'
  /** Kept from that row: group columns after the aggregates. */
  readonly values: readonly BoundExpression[]
}

/** One row per distinct combination of keys; without keys, exactly one row. */
export interface BoundGrouping {
  readonly keys: readonly BoundExpression[]
  readonly aggregates: readonly BoundAggregate[]
  /** Undefined: groups have no fields. */
  readonly row: RowChoice | undefined
}

/** Turns groups that differ in one key only into one row, with columns for that key's values. */
export interface BoundPivot {
  /** Index of the group column whose values become columns. */
  readonly key: number
  /** Each gives a column `<value>_<name>` for each value of the key. */
  readonly measures: readonly OutputColumn[]
}

/** A share of the rows, or a number of them, chosen by a hash of their keys. */
export type BoundSample =
  | { readonly kind: 'rate'; readonly rate: number; readonly seed: number }
  | { readonly kind: 'count'; readonly count: number; readonly seed: number }

/** What fields are shown shortened, and to how many characters. */
export interface Preview {
  readonly length: number
}

/** Where a page begins: after the row with these sort values and keys. */
export interface SortPosition {
  /** One for each sort key, as `type/plain` has them. */
  readonly values: readonly PlainValue[]
  readonly paginationKey: RowKey
  readonly object: number
  readonly version: RowKey
}

/** The place of a row; `long` where one of its values is too long for a cursor. */
export type LastSorted = SortPosition | 'long' | undefined

/** What the rows of a query are made from. */
export type BoundSource =
  /** Records, newest first. */
  | { readonly kind: 'objects'; readonly objects: readonly BoundObject[] }
  /** The spans of the traces that a selection gives, newest first. */
  | {
      readonly kind: 'traces'
      readonly objects: readonly BoundObject[]
      readonly selection: BoundTraceSelection
    }
  /** One row per trace. Its fields are those of `grouping.row`; `group_column`s are the sums. */
  | {
      readonly kind: 'summary'
      readonly objects: readonly BoundObject[]
      /** Selects traces by one of their spans; undefined: all. */
      readonly filter: BoundExpression | undefined
      /** Of the selected traces, only spans for which it is true count; undefined: all. */
      readonly spans: BoundExpression | undefined
      readonly grouping: BoundGrouping
    }
  /** Pairs of rows of a summary that agree in a key; see `RelationStage` for their columns. */
  | {
      readonly kind: 'comparison'
      readonly summary: Extract<BoundSource, { kind: 'summary' }>
      /** Over the rows of the summary, as are `scores` and `metrics`, which are objects. */
      readonly key: BoundExpression
      readonly scores: BoundExpression
      readonly metrics: BoundExpression
    }
  /** The rows of another query, before its output columns: they are substituted in expressions. */
  | { readonly kind: 'query'; readonly query: BoundQuery }

/** The traces with a span that passes the filter, in an order, and which of them are wanted. */
export interface BoundTraceSelection {
  readonly filter: BoundExpression | undefined
  /** Over the span's fields; traces are ranked by the best of their spans. Empty: newest span. */
  readonly sort: readonly BoundSortKey[]
  readonly limit: number | undefined
  readonly offset: number
  readonly after: RowKey | undefined
  readonly sample: BoundSample | undefined
}

/** Rows as they are, or groups of them. */
export type BoundOutput =
  | {
      readonly kind: 'rows'
      /** All fields of the row come first, in alphabetical order; columns of their names replace them. */
      readonly star: boolean
      readonly columns: readonly OutputColumn[]
    }
  | ({
      readonly kind: 'groups'
      /** Makes a row for each of several grouping sets of every row that is grouped. */
      readonly expansion: BoundUnpivot | undefined
      /** Over `group_column`s. */
      readonly columns: readonly OutputColumn[]
    } & BoundGrouping)
  /** What fields the rows have; one row per field, with fixed columns. */
  | {
      readonly kind: 'infer'
      readonly fields: readonly Path[]
      /** How many rows are looked at. */
      readonly budget: number
      /** How many levels of objects below a field are entered. */
      readonly depth: number
    }

export interface BoundQuery {
  readonly source: BoundSource
  /** `any_span` conditions: each is the filter of the spans whose traces make the set. A condition
   * may ask for sets before it. */
  readonly semiJoinSets: readonly BoundExpression[]
  readonly unpivots: readonly BoundUnpivot[]
  /** Over the rows of the source and what unpivots make of them. */
  readonly filter: BoundExpression | undefined
  readonly sample: BoundSample | undefined
  readonly output: BoundOutput
  /** Over what sort keys are over. */
  readonly finalFilter: BoundExpression | undefined
  readonly pivot: BoundPivot | undefined
  /** Over the row's fields, or over `group_column`s. Empty: newest first, or by the group keys. */
  readonly sort: readonly BoundSortKey[]
  readonly limit: number | undefined
  readonly offset: number
  /** Rows strictly older than this pagination key, given by a cursor of the default order. */
  readonly after: RowKey | undefined
  /** Given by a cursor of another order. */
  readonly afterSorted: SortPosition | undefined
  readonly preview: Preview | undefined
}

/** The objects that a query reads, subqueries included. */
export function objectsOf({ source }: BoundQuery): readonly BoundObject[] {
  switch (source.kind) {
    case 'query':
      return objectsOf(source.query)
    case 'comparison':
      return source.summary.objects
    default:
      return source.objects
  }
}

/** The sub-expressions of one node, in order of evaluation. */
export function childrenOf(node: BoundExpression): readonly BoundExpression[] {
  switch (node.kind) {
    case 'constant':
    case 'timestamp':
    case 'interval':
    case 'field':
    case 'group_column':
      return []
    case 'access':
      return [node.operand]
    case 'in_traces':
      return [node.object, node.trace]
    case 'call':
      return node.arguments
    case 'comparison':
    case 'arithmetic':
      return [node.left, node.right]
    case 'negate':
    case 'not':
    case 'is_null':
      return [node.operand]
    case 'and':
    case 'or':
      return node.operands
    case 'like':
      return [node.operand, node.pattern]
    case 'includes':
      return [node.haystack, node.needle]
    case 'match':
      return [node.operand, node.query]
    case 'in':
      return [node.operand, node.list]
    case 'conditional':
      return [...node.branches.flatMap((b) => [b.condition, b.result]), node.otherwise]
    case 'array':
      return node.items
    case 'object':
      return node.entries.map(([, value]) => value)
  }
}

/** The paths of all fields that an expression reads, each once. */
export function fieldsOf(expressions: Iterable<BoundExpression>): Path[] {
  const found = new Map<string, Path>()
  const visit = (node: BoundExpression) => {
    if (node.kind === 'field') found.set(JSON.stringify(node.path), node.path)
    for (const child of childrenOf(node)) visit(child)
  }
  for (const expression of expressions) visit(expression)
  return [...found.values()]
}
