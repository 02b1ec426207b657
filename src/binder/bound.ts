/**
 * The bound query: every name is resolved, every function exists, every expression has a type. It is
 * plain data (it crosses threads), and it no longer knows how it was written.
 */
import type { AggregateName } from '../function/aggregate.ts'
import type { ArithmeticOperator, ComparisonOperator } from '../parser/ast.ts'
import type { ObjectType } from '../type/record.ts'
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
  | { readonly kind: 'timestamp'; readonly ms: number; readonly type: 'timestamp' }
  | {
      readonly kind: 'interval'
      readonly months: number
      readonly ms: number
      readonly type: 'interval'
    }
  /** A record's field, by its path from the top of the row. */
  | { readonly kind: 'field'; readonly path: Path; readonly type: StaticType }
  /** A column of the aggregation below: first the group keys, then the aggregates. */
  | { readonly kind: 'group_column'; readonly index: number; readonly type: StaticType }
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
  /** What is aggregated; undefined counts rows. */
  readonly argument: BoundExpression | undefined
  /** Constant further arguments: the `p` of `percentile`. */
  readonly parameters: readonly number[]
  readonly type: StaticType
}

/** An object that is read, with what its rows derive from it. */
export interface BoundObject {
  readonly number: number
  readonly type: ObjectType
  readonly id: string
  readonly projectId: string
  readonly organizationId: string
}

export interface OutputColumn {
  readonly name: string
  readonly expression: BoundExpression
}

export interface BoundSortKey {
  readonly expression: BoundExpression
  readonly descending: boolean
}

/** Rows as they are, or groups of them. */
export type BoundOutput =
  | {
      readonly kind: 'rows'
      /** All fields of the row come first, in alphabetical order. */
      readonly star: boolean
      readonly columns: readonly OutputColumn[]
    }
  | {
      readonly kind: 'groups'
      readonly keys: readonly BoundExpression[]
      readonly aggregates: readonly BoundAggregate[]
      /** Over `group_column`s. */
      readonly columns: readonly OutputColumn[]
    }

export interface BoundQuery {
  readonly objects: readonly BoundObject[]
  readonly filter: BoundExpression | undefined
  readonly output: BoundOutput
  /** Over the row's fields, or over `group_column`s. Empty: newest first. */
  readonly sort: readonly BoundSortKey[]
  readonly limit: number | undefined
  readonly offset: number
  /** Rows strictly older than this pagination key, given by a cursor. */
  readonly after: { readonly transaction: number; readonly index: number } | undefined
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
