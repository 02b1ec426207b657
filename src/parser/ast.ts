/**
 * The syntax tree: the same for every surface of the language (clauses today, SQL and JSON later).
 * It knows no catalog and no types. Every node has the span of text that it came from.
 */
import type { Span } from '../error.ts'
import type { PathPart } from '../type/value.ts'

export type LiteralValue = null | boolean | number | bigint | string

/** An interval literal's unit. */
export type IntervalUnit =
  | 'year'
  | 'month'
  | 'week'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'millisecond'
  | 'microsecond'

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
  /** A field: a dotted path. A lone double-quoted word is a string literal, not a path. */
  | { readonly kind: 'path'; readonly parts: readonly PathPart[]; readonly span: Span }
  | { readonly kind: 'array'; readonly items: readonly Expression[]; readonly span: Span }
  | {
      readonly kind: 'object'
      readonly entries: readonly (readonly [key: string, value: Expression])[]
      readonly span: Span
    }
  /** `count(*)` has a star as its argument; the name is in lower case. */
  | {
      readonly kind: 'call'
      readonly name: string
      readonly nameSpan: Span
      readonly arguments: readonly Expression[]
      readonly distinct: boolean
      readonly span: Span
    }
  | { readonly kind: 'star'; readonly span: Span }
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

/** `experiment('a', 'b') spans`. The table name is in lower case. */
export interface Source {
  readonly table: string
  readonly tableSpan: Span
  readonly ids: readonly { readonly value: string; readonly span: Span }[]
  readonly shape: string | undefined
  readonly shapeSpan: Span | undefined
  readonly span: Span
}

export interface CountClause {
  readonly value: number
  readonly span: Span
}

export interface TextClause {
  readonly value: string
  readonly span: Span
}

/** A whole query. Which clauses may stand together is checked by the parser. */
export interface Query {
  readonly kind: 'query'
  readonly select: readonly Projection[] | undefined
  readonly dimensions: readonly Projection[] | undefined
  readonly measures: readonly Projection[] | undefined
  readonly from: Source
  readonly filter: Expression | undefined
  readonly sort: readonly SortKey[] | undefined
  readonly limit: CountClause | undefined
  readonly offset: CountClause | undefined
  readonly cursor: TextClause | undefined
  readonly span: Span
}
