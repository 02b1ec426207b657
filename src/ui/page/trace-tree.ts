/** The spans of a trace in the order in which they are read: parents first, siblings by their start. */
import { at, type Row } from '../service/query.ts'

export interface TreeLine {
  readonly span: Row
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
  readonly children: ReadonlyMap<string | undefined, readonly Row[]>
  readonly byId: ReadonlyMap<string, Row>
  readonly parents: ReadonlyMap<string, string | undefined>
  /** In seconds since 1970. */
  readonly start: number
  readonly end: number
}

export function treeOf(spans: readonly Row[]): SpanTree {
  const byId = new Map(spans.map((span) => [spanId(span), span]))
  const children = new Map<string | undefined, Row[]>()
  const parents = new Map<string, string | undefined>()
  let start = Number.POSITIVE_INFINITY
  let end = Number.NEGATIVE_INFINITY
  for (const span of spans) {
    const id = spanId(span)
    const named: readonly unknown[] = Array.isArray(span.span_parents) ? span.span_parents : []
    const parent = named.map(String).find((each) => byId.has(each) && each !== id)
    parents.set(id, parent)
    const siblings = children.get(parent)
    if (siblings) siblings.push(span)
    else children.set(parent, [span])
    start = Math.min(start, startOf(span))
    end = Math.max(end, endOf(span))
  }
  for (const siblings of children.values()) siblings.sort((a, b) => startOf(a) - startOf(b))
  return { children, byId, parents, start, end }
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
  const seen = new Set<string>()
  const rootsLast = [...(tree.children.get(undefined) ?? [])].reverse()
  const stack = rootsLast.map((span) => ({ span, depth: 0 }))
  while (stack.length > 0) {
    const { span, depth } = stack.pop()!
    const id = spanId(span)
    // Parents may form a ring in what programs send.
    if (seen.has(id) || (shown && !shown.has(id))) continue
    seen.add(id)
    const below = tree.children.get(id) ?? []
    const start = startOf(span)
    const end = endOf(span)
    const isTimed = Number.isFinite(start) && Number.isFinite(end)
    lines.push({
      span,
      id,
      depth,
      childCount: below.length,
      parentId: tree.parents.get(id),
      left: isTimed ? (start - tree.start) / length : 0,
      width: isTimed ? (end - start) / length : 0,
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

export function spanId(span: Row): string {
  return String(span.span_id)
}

export function nameOf(span: Row): string {
  const name = at(span, 'span_attributes', 'name')
  return typeof name === 'string' && name !== '' ? name : spanId(span)
}

export function typeOf(span: Row): string {
  return String(at(span, 'span_attributes', 'type') ?? 'span')
}

export function isFailed(span: Row): boolean {
  return span.error !== null && span.error !== undefined
}

function startOf(span: Row): number {
  const start = at(span, 'metrics', 'start')
  return typeof start === 'number' ? start : Date.parse(String(span.created)) / 1000
}

function endOf(span: Row): number {
  const end = at(span, 'metrics', 'end')
  return typeof end === 'number' ? end : startOf(span)
}
