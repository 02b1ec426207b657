/** Calls among the keys of groups that stand for several groupings: `rollup(a, b)`. */
import type { Expression, Projection } from './ast.ts'
import { printExpression } from './print.ts'

export type GroupingCall = Extract<Expression, { kind: 'call' }>

const functions: ReadonlySet<string> = new Set(['rollup', 'cube', 'grouping_sets'])

export function isGroupingCall(expression: Expression): expression is GroupingCall {
  return expression.kind === 'call' && functions.has(expression.name)
}

/** The call with its keys replaced. */
export function mapKeys(call: GroupingCall, change: (key: Expression) => Expression): GroupingCall {
  const replaced = call.arguments.map((item) =>
    isSet(call, item) ? { ...item, items: item.items.map(change) } : change(item),
  )
  return { ...call, arguments: replaced }
}

/** What is grouped by in at least one grouping, in the order of the text, each once. */
export function distinctKeys(dimensions: readonly Projection[]): readonly Projection[] {
  if (!dimensions.some(({ expression }) => isGroupingCall(expression))) return dimensions
  const keys = new Map<string, Projection>()
  for (const key of dimensions.flatMap(keysOf)) {
    const text = printExpression(key.expression)
    if (!keys.has(text)) keys.set(text, key)
  }
  return [...keys.values()]
}

function keysOf(dimension: Projection): readonly Projection[] {
  const { expression } = dimension
  if (!isGroupingCall(expression)) return [dimension]
  return expression.arguments
    .flatMap((item) => (isSet(expression, item) ? item.items : [item]))
    .map((key) => ({ expression: key, alias: undefined, span: key.span }))
}

function isSet(
  { name }: GroupingCall,
  item: Expression,
): item is Extract<Expression, { kind: 'array' }> {
  return name === 'grouping_sets' && item.kind === 'array'
}
