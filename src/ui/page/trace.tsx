/** One trace: its spans as a tree with a waterfall, and the one that is looked at. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { duration, preview } from '../component/format.ts'
import { Failure, Loading } from '../component/notice.tsx'
import { at, query, quoted, type Row } from '../service/query.ts'
import { parameter, setParameters } from '../state/location.ts'
import { durationOf } from './log-columns.tsx'
import { Span } from './span.tsx'

/** Spans of a page; the tree is shown from the first page on. */
const pageSpans = 1000

export interface TraceProps {
  readonly source: string
  readonly rootSpanId: string
  readonly onClose: () => void
}

export function Trace({ source, rootSpanId, onClose }: TraceProps) {
  const { spans, error, isLoading } = useSpans(source, rootSpanId)
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set())
  const tree = useMemo(() => flatten(spans, collapsed), [spans, collapsed])
  const chosen = parameter('span')
  const open = spans.find(({ span_id }) => span_id === chosen) ?? tree[0]?.span
  const toggle = (id: string) => {
    const next = new Set(collapsed)
    if (!next.delete(id)) next.add(id)
    setCollapsed(next)
  }
  return (
    <section class="trace" aria-label="Trace">
      <header class="page-head">
        <h2>Trace</h2>
        <span class="hint">
          {spans.length.toLocaleString()} spans{isLoading ? ', loading more…' : ''}
        </span>
        <button type="button" onClick={onClose} aria-label="Close the trace">
          Close
        </button>
      </header>
      {error && <Failure error={error} />}
      {spans.length === 0 && isLoading && <Loading what="the trace" />}
      <Spans tree={tree} openId={String(open?.span_id)} collapsed={collapsed} toggle={toggle} />
      {open && <Span source={source} id={String(open.id)} key={String(open.id)} />}
    </section>
  )
}

interface Line {
  readonly span: Row
  readonly depth: number
  readonly childCount: number
  /** Share of the trace's time at which it begins, and that it takes. */
  readonly left: number
  readonly width: number
}

/** Lines in sight at once; the rest comes as one asks for it. */
const firstLines = 300

function Spans({
  tree,
  openId,
  collapsed,
  toggle,
}: {
  readonly tree: readonly Line[]
  readonly openId: string
  readonly collapsed: ReadonlySet<string>
  readonly toggle: (id: string) => void
}) {
  const [shown, setShown] = useState(firstLines)
  return (
    <div class="spans" role="tree" aria-label="Spans">
      {tree.slice(0, shown).map(({ span, depth, childCount, left, width }) => {
        const id = String(span.span_id)
        const type = String(at(span, 'span_attributes', 'type') ?? 'span')
        return (
          <div
            key={String(span.id)}
            role="treeitem"
            tabIndex={0}
            aria-level={depth + 1}
            aria-selected={id === openId}
            aria-expanded={childCount > 0 ? !collapsed.has(id) : undefined}
            class="span-line"
            onClick={() => setParameters({ span: id })}
            onKeyDown={(event) => {
              if (event.key === 'Enter') setParameters({ span: id })
              if (event.key === 'ArrowLeft' && !collapsed.has(id)) toggle(id)
              if (event.key === 'ArrowRight' && collapsed.has(id)) toggle(id)
            }}
          >
            <span class="span-name" style={{ paddingLeft: `${Math.min(depth, 12) * 14}px` }}>
              {childCount > 0 ? (
                <button
                  type="button"
                  class="plain"
                  tabIndex={-1}
                  aria-label={collapsed.has(id) ? 'Open' : 'Close'}
                  onClick={(event) => {
                    event.stopPropagation()
                    toggle(id)
                  }}
                >
                  {collapsed.has(id) ? '▸' : '▾'}
                </button>
              ) : (
                <span class="no-toggle" />
              )}
              <span class={`kind ${type}`}>{type}</span>
              <span class={span.error === null || span.error === undefined ? '' : 'bad'}>
                {preview(at(span, 'span_attributes', 'name'), 60) || id}
              </span>
            </span>
            <span class="span-bar">
              <span style={{ left: `${left * 100}%`, width: `${Math.max(width * 100, 0.5)}%` }} />
            </span>
            <span class="number">{duration(durationOf(span))}</span>
          </div>
        )
      })}
      {tree.length > shown && (
        <button type="button" onClick={() => setShown(shown + 10 * firstLines)}>
          {(tree.length - shown).toLocaleString()} more spans
        </button>
      )}
    </div>
  )
}

function useSpans(source: string, rootSpanId: string) {
  const [spans, setSpans] = useState<readonly Row[]>([])
  const [error, setError] = useState<Error>()
  const [isLoading, setLoading] = useState(true)
  useEffect(() => {
    const abandon = new AbortController()
    const { signal } = abandon
    setSpans([])
    setError(undefined)
    setLoading(true)
    const load = async () => {
      let cursor: string | undefined
      do {
        const answer = await query(
          'select: id, span_id, span_parents, root_span_id, span_attributes, metrics, created, error\n' +
            `from: ${source}\nfilter: root_span_id = ${quoted(rootSpanId)}\npreview_length: 200\n` +
            `limit: ${pageSpans}${cursor === undefined ? '' : `\ncursor: ${quoted(cursor)}`}`,
          signal,
        )
        if (signal.aborted) return
        setSpans((before) => [...before, ...answer.data])
        cursor = answer.data.length < pageSpans ? undefined : answer.cursor
      } while (cursor !== undefined)
      setLoading(false)
    }
    load().catch((thrown: unknown) => {
      if (signal.aborted) return
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)))
      setLoading(false)
    })
    return () => abandon.abort()
  }, [source, rootSpanId])
  return { spans, error, isLoading }
}

/** Parents before children, siblings by their start. Spans whose parent is not there are roots. */
function flatten(spans: readonly Row[], collapsed: ReadonlySet<string>): Line[] {
  const known = new Set(spans.map(({ span_id }) => span_id))
  const children = new Map<unknown, Row[]>()
  for (const span of spans) {
    const parents = Array.isArray(span.span_parents) ? span.span_parents : []
    const parent: unknown = parents.find((each) => known.has(each) && each !== span.span_id)
    const siblings = children.get(parent)
    if (siblings) siblings.push(span)
    else children.set(parent, [span])
  }
  for (const siblings of children.values()) siblings.sort((a, b) => startOf(a) - startOf(b))
  const starts = spans.map(startOf).filter(Number.isFinite)
  const ends = spans.map(endOf).filter(Number.isFinite)
  const first = starts.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const length = Math.max(ends.reduce((a, b) => Math.max(a, b), first) - first, 1e-9)
  const lines: Line[] = []
  const seen = new Set<Row>()
  const stack = [...(children.get(undefined) ?? [])].reverse().map((span) => ({ span, depth: 0 }))
  while (stack.length > 0) {
    const { span, depth } = stack.pop()!
    if (seen.has(span)) continue
    seen.add(span)
    const below = children.get(span.span_id) ?? []
    const start = startOf(span)
    const end = endOf(span)
    const isTimed = Number.isFinite(start) && Number.isFinite(end)
    lines.push({
      span,
      depth,
      childCount: below.length,
      left: isTimed ? (start - first) / length : 0,
      width: isTimed ? (end - start) / length : 0,
    })
    if (collapsed.has(String(span.span_id))) continue
    for (let i = below.length - 1; i >= 0; i--) stack.push({ span: below[i]!, depth: depth + 1 })
  }
  return lines
}

function startOf(span: Row): number {
  const start = at(span, 'metrics', 'start')
  return typeof start === 'number' ? start : Date.parse(String(span.created)) / 1000
}

function endOf(span: Row): number {
  const end = at(span, 'metrics', 'end')
  return typeof end === 'number' ? end : startOf(span)
}
