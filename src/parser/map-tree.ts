/** Makes syntax trees of others. */
import type { Span } from '../error.ts'

/**
 * A copy of a part of a syntax tree, with what `change` gives in the places of the objects that it gives something for;
 * it is asked for an object before its members.
 */
export function mapTree<Part>(part: Part, change: (node: object) => object | undefined): Part {
  if (typeof part !== 'object' || part === null) return part
  const changed = change(part)
  if (changed) return changed as Part
  if (Array.isArray(part)) return part.map((item: unknown) => mapTree(item, change)) as Part
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(part)) copy[name] = mapTree(member, change)
  return copy as Part
}

/** The part with all of its places at `path`, into the text at which they point. */
export function placedAt<Part>(path: string, part: Part): Part {
  return mapTree(part, (node) => (isSpan(node) ? { ...node, path } : undefined))
}

function isSpan(node: object): node is Span {
  return 'start' in node && 'end' in node
}
