/**
 * The syntax tree: one for the three surfaces of the language (clauses, SQL, JSON). It knows no
 * catalog and no types. Every node has the span of text that it came from.
 *
 * What is only another way to write something has no node of its own: `a ~ 'x'` is
 * `regexp_match(a, 'x')`, `x::float` is `to_number(x)`, a common table expression is the subquery
 * that it stands for.
 */
import type { Span } from '../error.ts'
import type { IntervalUnit } from '../type/time.ts'
import type { PathPart } from '../type/value.ts'

export type LiteralValue = null | boolean | number | bigint | string

export type ComparisonOperator =
  | 'eq'
  | 'ne'
  | 'lt'
  | 'le'
  | 'gt'
  | 'ge'
  /** `<=>`: equal, or both null. */
  | 'is_same'
  /** `<!=>` */
  | 'is_different'

export type ArithmeticOperator = 'add' | 'sub' | 'mul' | 'div' | 'mod'

export type Expression =
  | { readonly kind: 'literal'; readonly value: LiteralValue; readonly span: Span }
  | {
      readonly kind: 'interval'
      readonly value: number
      readonly unit: IntervalUnit
      readonly span: Span
    }
  /**
   * A field: a dotted path. A lone double-quoted word is a string literal, not a path, unless it is
   * tested for null, true or false.
   */
  | { readonly kind: 'path'; readonly parts: readonly PathPart[]; readonly span: Span }
  | { readonly kind: 'array'; readonly items: readonly Expression[]; readonly span: Span }
  | {
      readonly kind: 'object'
      readonly entries: readonly (readonly [key: string, value: Expression])[]
      readonly span: Span
    }
  /** A step into a value that is no field: `json_extract(input, 'a')[0].b`. At least one part. */
  | {
      readonly kind: 'access'
      readonly operand: Expression
      readonly parts: readonly PathPart[]
      readonly span: Span
    }
  /** `count(*)` has a star as its argument; the name is in lower case. */
  | {
      readonly kind: 'call'
      readonly name: string
      readonly nameSpan: Span
      readonly arguments: readonly Expression[]
      readonly distinct: boolean
      /** Of an aggregate, the rows that count: `count(*) filter (where error is null)`. */
      readonly filter: Expression | undefined
      readonly span: Span
    }
  /** All fields, some of them with other values: `* replace (round(scores.F, 2) as scores)`. */
  | { readonly kind: 'star'; readonly replace: readonly Projection[]; readonly span: Span }
  | {
      readonly kind: 'comparison'
      readonly operator: ComparisonOperator
      readonly left: Expression
      readonly right: Expression
      readonly span: Span
    }
  | {
      readonly kind: 'arithmetic'
      readonly operator: ArithmeticOperator
      readonly left: Expression
      readonly right: Expression
      readonly span: Span
    }
  | { readonly kind: 'negate'; readonly operand: Expression; readonly span: Span }
  | { readonly kind: 'not'; readonly operand: Expression; readonly span: Span }
  /** Chains are flat, two operands or more: ten thousand `and`s are one node, not ten thousand deep. */
  | {
      readonly kind: 'and' | 'or'
      readonly operands: readonly Expression[]
      readonly span: Span
    }
  | {
      readonly kind: 'is_null'
      readonly operand: Expression
      readonly negated: boolean
      readonly span: Span
    }
  | {
      readonly kind: 'like'
      readonly operand: Expression
      readonly pattern: Expression
      readonly caseInsensitive: boolean
      readonly negated: boolean
      readonly span: Span
    }
  | {
      readonly kind: 'includes'
      readonly haystack: Expression
      readonly needle: Expression
      readonly negated: boolean
      readonly span: Span
    }
  | {
      readonly kind: 'match'
      readonly operand: Expression
      readonly query: Expression
      readonly negated: boolean
      readonly span: Span
    }
  | {
      readonly kind: 'in'
      readonly operand: Expression
      /** The list: an array node, or any expression that gives an array. */
      readonly list: Expression
      readonly negated: boolean
      readonly span: Span
    }
  | {
      readonly kind: 'between'
      readonly operand: Expression
      readonly low: Expression
      readonly high: Expression
      readonly negated: boolean
      readonly span: Span
    }
  /** `a ? b : c ? d : e` has two branches and an `otherwise`. */
  | {
      readonly kind: 'conditional'
      readonly branches: readonly { readonly condition: Expression; readonly result: Expression }[]
      readonly otherwise: Expression
      readonly span: Span
    }

export interface Projection {
  readonly expression: Expression
  readonly alias: string | undefined
  readonly span: Span
}

export interface SortKey {
  readonly expression: Expression
  readonly direction: 'asc' | 'desc'
  readonly span: Span
}

/** `experiment('a', 'b') spans`. The table and the shape are in lower case. */
export interface TableSource {
  readonly kind: 'table'
  readonly table: string
  readonly tableSpan: Span
  /** Ids or names. */
  readonly ids: readonly TextClause[]
  readonly shape: string | undefined
  readonly shapeSpan: Span | undefined
  readonly span: Span
}

/** `(select: … | from: …)`, and what a common table expression's name stands for. */
export interface SubquerySource {
  readonly kind: 'subquery'
  readonly query: Query
  readonly span: Span
}

export type Source = TableSource | SubquerySource

export interface CountClause {
  readonly value: number
  readonly span: Span
}

export interface TextClause {
  readonly value: string
  readonly span: Span
}

/** Turns the values of a column into columns. */
export interface Pivot {
  /** Aliases of measures, or aggregates with or without an alias. At least one. */
  readonly measures: readonly Projection[]
  /** The key whose values become columns; undefined: the last dimension. */
  readonly key: Expression | undefined
  readonly span: Span
}

/** Makes a row of each element of an array or each entry of an object. */
export interface Unpivot {
  readonly expression: Expression
  /** What the entry's key, or the element's index from 0, is called; undefined: it is not wanted. */
  readonly name: string | undefined
  readonly value: string
  readonly span: Span
}

export interface Sample {
  /** A share from 0 to 1 of the rows that pass the filter, or a number of them. */
  readonly method:
    | { readonly type: 'rate'; readonly value: number }
    | { readonly type: 'count'; readonly value: number }
  /** The same seed gives the same rows. */
  readonly seed: number | undefined
  readonly span: Span
}

/**
 * A whole query; a clause that was not given is undefined. Which clauses may stand together is checked
 * where the query is read, by `checkClauses`.
 *
 * `GROUP BY` of SQL is `dimensions` beside a `select`, which may then refer to it by name or ordinal.
 */
export interface Query {
  readonly kind: 'query'
  readonly select?: readonly Projection[] | undefined
  /** `select distinct`. */
  readonly distinct?: boolean | undefined
  readonly dimensions?: readonly Projection[] | undefined
  readonly measures?: readonly Projection[] | undefined
  readonly pivot?: Pivot | undefined
  readonly unpivot?: readonly Unpivot[] | undefined
  /** Fields (paths) or a star. */
  readonly infer?: readonly Expression[] | undefined
  /** Undefined where the source is given apart from the query. */
  readonly from?: Source | undefined
  readonly filter?: Expression | undefined
  readonly spanFilter?: Expression | undefined
  readonly traceFilter?: Expression | undefined
  /** `HAVING`. */
  readonly finalFilter?: Expression | undefined
  readonly finalDimensions?: readonly Projection[] | undefined
  readonly finalMeasures?: readonly Projection[] | undefined
  readonly comparisonKey?: Expression | undefined
  readonly weightedScores?: readonly Projection[] | undefined
  readonly customColumns?: readonly Projection[] | undefined
  readonly sample?: Sample | undefined
  readonly sort?: readonly SortKey[] | undefined
  readonly limit?: CountClause | undefined
  readonly offset?: CountClause | undefined
  readonly cursor?: TextClause | undefined
  /** Characters; -1: no limit. */
  readonly previewLength?: CountClause | undefined
  readonly inferenceBudget?: CountClause | undefined
  readonly span: Span
}
