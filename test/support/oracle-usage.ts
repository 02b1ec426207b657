/** Whose usage counts, for the row oracle: path by path, down the tree. */
import type { Item } from './oracle-row.ts'
import { isList, number, type Plain } from './oracle-value.ts'

const usage = ['prompt_tokens', 'completion_tokens', 'tokens', 'total_tokens', 'estimated_cost']

/** Whether a span below this one reports usage that this one's is the sum of. */
export function repeatsUsage(top: Item): boolean {
  const isCall = attribute(top, 'type') === 'llm'
  const isFoundBelow = (path: readonly Item[]): boolean =>
    childrenOf(path.at(-1)!).some((child) => {
      if (path.includes(child)) return false
      if (isCall && attribute(child, 'type') === 'tool') return false
      const isOwn = !isScorer(child) || path.every(isScorer)
      return (reports(child) && isOwn) || isFoundBelow([...path, child])
    })
  return reports(top) && isFoundBelow([top])
}

/** The recorded cost, of a span where it is its own and the application's. */
export function costOf(item: Item): Plain {
  const isSpan = item.trace.includes(item)
  if (isSpan && (isScorer(item) || repeatsUsage(item))) return null
  return item.read(['metrics', 'estimated_cost']) ?? null
}

function reports(item: Item): boolean {
  return usage.some((name) => (number(item.read(['metrics', name]) ?? null) ?? 0) > 0)
}

function childrenOf(item: Item): Item[] {
  const id = item.read(['span_id'])
  return item.trace.filter((span) => {
    const parents = span.read(['span_parents']) ?? null
    return isList(parents) && parents.some((parent) => parent === id)
  })
}

function isScorer(item: Item): boolean {
  return attribute(item, 'purpose') === 'scorer'
}

function attribute(item: Item, name: string): Plain {
  return item.read(['span_attributes', name]) ?? null
}
