/** The spans of a trace in the order in which they are read: parents first, siblings by their start. */
import type { TraceSpan } from '../service/trace-span.ts'

export interface TreeLine {
  readonly span: TraceSpan
  /** Of the span. */
  readonly id: string
  readonly depth: number
  readonly childCount: number
  readonly parentId: string | undefined
  /** Share of the trace's time at which it begins, and that it takes. */
  readonly left: number
  readonly width: number
}

export interface SpanTree {
  /** By the id of the parent; roots, and spans whose parent is not there, have none. */
  readonly children: ReadonlyMap<string | undefined, readonly TraceSpan[]>
  readonly byId: ReadonlyMap<string, TraceSpan>
  readonly parents: ReadonlyMap<string, string>
  /** In seconds since 1970. */
  readonly start: number
  readonly end: number
}

export function treeOf(spans: readonly TraceSpan[]): SpanTree {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const children = new Map<string | undefined, TraceSpan[]>()
  const parents = new Map<string, string>()
  let start = Number.POSITIVE_INFINITY
  let end = Number.NEGATIVE_INFINITY
  for (const span of byId.values()) {
    const { spanId } = span
    const parent = span.parents.find((each) => each !== spanId && byId.has(each))
    if (parent !== undefined) parents.set(spanId, parent)
    const siblings = children.get(parent)
    if (siblings) siblings.push(span)
    else children.set(parent, [span])
    if (span.start < start) start = span.start
    if (span.end > end) end = span.end
  }
  cutRings(byId, children, parents)
  for (const siblings of children.values()) siblings.sort((a, b) => a.start - b.start || 0)
  return { children, byId, parents, start, end }
}

/** Parents may form a ring in what programs send: one of its spans then counts as having none. */
function cutRings(
  byId: ReadonlyMap<string, TraceSpan>,
  children: Map<string | undefined, TraceSpan[]>,
  parents: Map<string, string>,
): void {
  const reached = new Set<string>()
  const reach = (stack: TraceSpan[]) => {
    for (let span = stack.pop(); span; span = stack.pop()) {
      if (reached.has(span.spanId)) continue
      reached.add(span.spanId)
      for (const child of children.get(span.spanId) ?? []) stack.push(child)
    }
  }
  const roots = children.get(undefined) ?? []
  reach([...roots])
  if (reached.size === byId.size) return
  children.set(undefined, roots)
  for (const [id, span] of byId) {
    if (reached.has(id)) continue
    const siblings = children.get(parents.get(id))
    siblings?.splice(siblings.indexOf(span), 1)
    parents.delete(id)
    roots.push(span)
    reach([span])
  }
}

/** What a span used together with all below it. */
export interface Usage {
  /** Spans below it. */
  readonly spans: number
  readonly tokens: number
  /** In dollars. */
  readonly cost: number
}

export function usageOf(tree: SpanTree, root: TraceSpan): Usage {
  let [spans, tokens, cost] = [-1, 0, 0]
  const stack = [root]
  for (let span = stack.pop(); span; span = stack.pop()) {
    spans++
    if (!span.isRepeated) {
      tokens += span.tokens
      cost += span.cost
    }
    for (const child of tree.children.get(span.spanId) ?? []) stack.push(child)
  }
  return { spans, tokens, cost }
}

export interface TreeView {
  readonly collapsed: ReadonlySet<string>
  /** Spans that are looked for; their parents are shown as well. Undefined shows all. */
  readonly found: ReadonlySet<string> | undefined
}

export function linesOf(tree: SpanTree, { collapsed, found }: TreeView): TreeLine[] {
  const shown = found && withParents(tree, found)
  const length = Math.max(tree.end - tree.start, 1e-9)
  const lines: TreeLine[] = []
  const rootsLast = [...(tree.children.get(undefined) ?? [])].reverse()
  const stack = rootsLast.map((span) => ({ span, depth: 0 }))
  while (stack.length > 0) {
    const { span, depth } = stack.pop()!
    const id = span.spanId
    if (shown && !shown.has(id)) continue
    const below = tree.children.get(id) ?? []
    const isTimed = Number.isFinite(span.start) && Number.isFinite(span.end)
    lines.push({
      span,
      id,
      depth,
      childCount: below.length,
      parentId: tree.parents.get(id),
      left: isTimed ? (span.start - tree.start) / length : 0,
      width: isTimed ? (span.end - span.start) / length : 0,
    })
    if (collapsed.has(id) && !shown) continue
    for (let i = below.length - 1; i >= 0; i--) stack.push({ span: below[i]!, depth: depth + 1 })
  }
  return lines
}

function withParents({ parents }: SpanTree, ids: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set<string>()
  for (const id of ids) {
    for (let each: string | undefined = id; each !== undefined && !all.has(each); ) {
      all.add(each)
      each = parents.get(each)
    }
  }
  return all
}
