import { unreachable } from '../error.ts'
import type { Expression } from './ast.ts'

const none: readonly Expression[] = []

/** The expressions directly inside `expression`, in the order of the text. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'interval':
    case 'path':
      return none
    case 'star':
      return expression.replace.map((projection) => projection.expression)
    case 'access':
      return [expression.operand]
    case 'array':
      return expression.items
    case 'object':
      return expression.entries.map(([, value]) => value)
    case 'call':
      return expression.filter ? [...expression.arguments, expression.filter] : expression.arguments
    case 'comparison':
    case 'arithmetic':
      return [expression.left, expression.right]
    case 'negate':
    case 'not':
    case 'is_null':
      return [expression.operand]
    case 'and':
    case 'or':
      return expression.operands
    case 'like':
      return [expression.operand, expression.pattern]
    case 'includes':
      return [expression.haystack, expression.needle]
    case 'match':
      return [expression.operand, expression.query]
    case 'in':
      return [expression.operand, expression.list]
    case 'between':
      return [expression.operand, expression.low, expression.high]
    case 'conditional':
      return [
        ...expression.branches.flatMap(({ condition, result }) => [condition, result]),
        expression.otherwise,
      ]
    default:
      return unreachable(expression)
  }
}
