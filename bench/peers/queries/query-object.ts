/** A query in the form of objects that the SDKs send: a node with an `op` for each step of the syntax tree. */
import type { Expression, Projection, Query, Source } from '../../../src/parser/ast.ts'
import { parseRequest } from '../../../src/parser/parse-request.ts'
import { printExpression } from '../../../src/parser/print.ts'

type Node = Readonly<Record<string, unknown>>

export function printQueryObject(text: string): Node {
  const query = parseRequest(text, undefined)
  return {
    select: query.select?.map(projection),
    dimensions: query.dimensions?.map(projection),
    measures: query.measures?.map(projection),
    unpivot: query.unpivot?.map(({ expression, value }) => {
      return { expr: node(expression), alias: value }
    }),
    from: query.from && source(query.from),
    filter: query.filter && node(query.filter),
    sort: query.sort?.map(({ expression, direction }) => {
      return { expr: node(expression), dir: direction }
    }),
    limit: query.limit?.value,
  } satisfies { readonly [Clause in keyof Query]?: unknown }
}

function source(from: Source): Node {
  if (from.kind !== 'table') throw new Error(`no form of objects for ${from.kind}`)
  const args = from.ids.map(({ value }) => ({ op: 'literal', value }))
  return { op: 'function', name: ident([from.table]), args, shape: from.shape }
}

function projection({ expression, alias }: Projection): Node {
  return expression.kind === 'star' ? node(expression) : { expr: node(expression), alias }
}

function ident(name: readonly unknown[]): Node {
  return { op: 'ident', name }
}

function node(expression: Expression): Node {
  switch (expression.kind) {
    case 'literal':
      return { op: 'literal', value: expression.value }
    case 'path':
      return ident(expression.parts)
    case 'star':
      return { op: 'star' }
    case 'call': {
      const { name } = expression
      return { op: 'function', name: ident([name]), args: expression.arguments.map(node) }
    }
    case 'comparison':
    case 'arithmetic': {
      const { operator, left, right } = expression
      return { op: operator, left: node(left), right: node(right) }
    }
    case 'and':
    case 'or':
      return { op: expression.kind, children: expression.operands.map(node) }
    case 'is_null':
      return { op: expression.negated ? 'isnotnull' : 'isnull', expr: node(expression.operand) }
    case 'like': {
      const { operand, pattern, caseInsensitive } = expression
      const op = caseInsensitive ? 'ilike' : 'like'
      return { op, left: node(operand), right: node(pattern) }
    }
    case 'match':
      return { op: 'match', left: node(expression.operand), right: node(expression.query) }
    default:
      // As people write what the SDKs have no words for.
      return { btql: printExpression(expression) }
  }
}
