import { type BoundAggregate, type BoundExpression, childrenOf } from './bound.ts'

/** Rebuilds a node with its children replaced; the node itself when none changed. */
export function mapChildren(
  node: BoundExpression,
  change: (child: BoundExpression) => BoundExpression,
): BoundExpression {
  const before = childrenOf(node)
  const after = before.map(change)
  if (after.every((child, i) => child === before[i])) return node
  switch (node.kind) {
    case 'access':
      return { ...node, operand: after[0]! }
    case 'in_traces':
      return { ...node, object: after[0]!, trace: after[1]! }
    case 'call':
      return { ...node, arguments: after }
    case 'comparison':
    case 'arithmetic':
      return { ...node, left: after[0]!, right: after[1]! }
    case 'negate':
    case 'not':
    case 'is_null':
      return { ...node, operand: after[0]! }
    case 'and':
    case 'or':
      return { ...node, operands: after }
    case 'like':
      return { ...node, operand: after[0]!, pattern: after[1]! }
    case 'includes':
      return { ...node, haystack: after[0]!, needle: after[1]! }
    case 'match':
      return { ...node, operand: after[0]!, query: after[1]! }
    case 'in':
      return { ...node, operand: after[0]!, list: after[1]! }
    case 'conditional':
      return {
        ...node,
        branches: node.branches.map((_, i) => ({
          condition: after[2 * i]!,
          result: after[2 * i + 1]!,
        })),
        otherwise: after.at(-1)!,
      }
    case 'array':
      return { ...node, items: after }
    case 'object':
      return { ...node, entries: node.entries.map(([key], i) => [key, after[i]!] as const) }
    default:
      return node
  }
}

/** Equal for expressions of equal structure, different for others. */
export function structuralKey(node: BoundExpression | BoundAggregate): string {
  try {
    return JSON.stringify(node)
  } catch {
    // JSON has no bigints. A replacer for all nodes would make this five times as slow.
    return JSON.stringify(node, (_, value) =>
      typeof value === 'bigint' ? { bigint: String(value) } : value,
    )
  }
}
