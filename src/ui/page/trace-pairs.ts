/** Two traces as one tree: spans of the same name and type, in their order below the same parent, are one line. */
import type { TraceSpan } from '../service/trace-span.ts'
import type { SpanTree } from './trace-tree.ts'

export interface PairLine {
  /** Undefined where only the other trace has such a span; as is `after`. */
  readonly before: TraceSpan | undefined
  readonly after: TraceSpan | undefined
  readonly depth: number
}

/** Lines in the order of the first trace, each that only the second has behind what it follows there. */
export function pairsOf(before: SpanTree, after: SpanTree): PairLine[] {
  const lines: PairLine[] = []
  const roots = pairSiblings(rootsOf(before), rootsOf(after))
  const stack = roots.map((pair) => ({ ...pair, depth: 0 })).reverse()
  for (let line = stack.pop(); line; line = stack.pop()) {
    lines.push(line)
    const below = pairSiblings(childrenOf(before, line.before), childrenOf(after, line.after))
    for (const pair of below.reverse()) stack.push({ ...pair, depth: line.depth + 1 })
  }
  return lines
}

type Pair = Omit<PairLine, 'depth'>

function rootsOf({ children }: SpanTree): readonly TraceSpan[] {
  return children.get(undefined) ?? []
}

function childrenOf({ children }: SpanTree, parent: TraceSpan | undefined): readonly TraceSpan[] {
  return (parent && children.get(parent.spanId)) ?? []
}

/** The k-th of a name and type goes with the k-th of it; a root has its partner whatever its name is. */
function pairSiblings(before: readonly TraceSpan[], after: readonly TraceSpan[]): Pair[] {
  if (before.length === 1 && after.length === 1) return [{ before: before[0], after: after[0] }]
  const waiting = new Map<string, TraceSpan[]>()
  for (const span of after) {
    const key = keyOf(span)
    const known = waiting.get(key)
    if (known) known.push(span)
    else waiting.set(key, [span])
  }
  const partnerOf = new Map<TraceSpan, TraceSpan>()
  for (const span of before) {
    const partner = waiting.get(keyOf(span))?.shift()
    if (partner) partnerOf.set(span, partner)
  }
  const taken = new Set(partnerOf.values())
  /** Those without a partner, by the one that they follow. */
  const followers = new Map<TraceSpan | undefined, Pair[]>()
  let last: TraceSpan | undefined
  for (const span of after) {
    if (taken.has(span)) {
      last = span
      continue
    }
    const pairs = followers.get(last) ?? []
    pairs.push({ before: undefined, after: span })
    followers.set(last, pairs)
  }
  return [
    ...(followers.get(undefined) ?? []),
    ...before.flatMap((span): Pair[] => {
      const partner = partnerOf.get(span)
      return [{ before: span, after: partner }, ...((partner && followers.get(partner)) ?? [])]
    }),
  ]
}

function keyOf({ name, type, spanId }: TraceSpan): string {
  // Without a name it is called by its id, which no other span has.
  return JSON.stringify([type, name === spanId ? '' : name])
}
