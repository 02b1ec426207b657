/** Makes syntax trees of others. */
import type { Span } from '../error.ts'

/**
 * A part of a syntax tree with what `change` gives in the places of the objects that it gives something for; what has
 * none of them is shared. It is asked for an object before its members.
 */
export function mapTree<Part>(part: Part, change: (node: object) => object | undefined): Part {
  if (typeof part !== 'object' || part === null) return part
  const changed = change(part)
  if (changed) return changed as Part
  if (Array.isArray(part)) {
    let items: unknown[] | undefined
    for (const [i, item] of part.entries()) {
      const mapped: unknown = mapTree(item, change)
      if (mapped === item) continue
      items ??= part.slice()
      items[i] = mapped
    }
    return (items as Part | undefined) ?? part
  }
  let copy: Part | undefined
  for (const name in part) {
    const mapped = mapTree(part[name], change)
    if (mapped === part[name]) continue
    copy ??= { ...part }
    copy[name] = mapped
  }
  return copy ?? part
}

/** The part with all of its places at `path`, into the text at which they point. */
export function placedAt<Part>(path: string, part: Part): Part {
  return mapTree(part, (node) => (isSpan(node) ? { ...node, path } : undefined))
}

export function isSpan(node: object): node is Span {
  return 'start' in node && 'end' in node
}
