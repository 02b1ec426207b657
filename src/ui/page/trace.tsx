/** One trace: its spans as a tree with a waterfall, and the one that is looked at. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { CopyButton } from '../component/copy-button.tsx'
import { cost, counted, duration, number, time } from '../component/format.ts'
import { nothingSought, type Sought } from '../component/marked.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { useLoaded } from '../service/load.ts'
import { at, query, quoted, type Row } from '../service/query.ts'
import { useSpans } from '../service/trace-spans.ts'
import { parameter, setParameters } from '../state/location.ts'
import { Span } from './span.tsx'
import { TraceLines } from './trace-lines.tsx'
import { isFailed, linesOf, nameOf, type SpanTree, spanId, treeOf, typeOf } from './trace-tree.ts'

export interface TraceProps {
  /** `project_logs('…')` */
  readonly source: string
  readonly rootSpanId: string
  readonly onClose: () => void
  /** What was looked for, which values mark. */
  readonly sought?: readonly Sought[]
  /** Goes on to the next row of the table, or back. */
  readonly onStep?: (by: number) => void
  /** Something of the trace was changed. */
  readonly onChange?: () => void
}

export function Trace(props: TraceProps) {
  const { source, rootSpanId, onClose, sought = nothingSought, onStep, onChange } = props
  const { spans, error, isLoading, reload } = useSpans(source, rootSpanId)
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set())
  const tree = useMemo(() => treeOf(spans), [spans])
  const wanted = parameter('find') ?? ''
  const found = useFound(source, rootSpanId, wanted, spans)
  const lines = useMemo(
    () => linesOf(tree, { collapsed, found: found?.ids }),
    [tree, collapsed, found?.ids],
  )
  const matches = found ? lines.filter(({ id }) => found.ids.has(id)) : []
  const chosen = parameter('span')
  const open = spans.find((span) => spanId(span) === chosen) ?? lines[0]?.span
  const openId = open && spanId(open)
  const [root] = tree.children.get(undefined) ?? []
  const isWide = parameter('wide') === 'yes'
  const toggle = (id: string) => {
    const next = new Set(collapsed)
    if (!next.delete(id)) next.add(id)
    setCollapsed(next)
  }
  const collapseAll = () => {
    const parents = [...tree.children.keys()].filter((id) => id !== undefined)
    setCollapsed(collapsed.size > 0 ? new Set() : new Set(parents))
  }
  const change = () => {
    reload()
    onChange?.()
  }
  return (
    <section class="trace" aria-label="Trace">
      <header class="page-head">
        <h2>{root && at(root, 'span_attributes', 'name') ? nameOf(root) : 'Trace'}</h2>
        <div class="tools">
          {onStep && (
            <>
              <button
                type="button"
                aria-label="Previous row"
                title="Previous (k)"
                onClick={() => onStep(-1)}
              >
                ↑
              </button>
              <button
                type="button"
                aria-label="Next row"
                title="Next (j)"
                onClick={() => onStep(1)}
              >
                ↓
              </button>
            </>
          )}
          <CopyButton label="Copy link" text={() => window.location.href} />
          <button
            type="button"
            aria-pressed={isWide}
            onClick={() => setParameters({ wide: isWide ? undefined : 'yes' })}
          >
            Wide
          </button>
          <button type="button" onClick={onClose} aria-label="Close the trace">
            ✕
          </button>
        </div>
      </header>
      {spans.length > 0 && <Totals spans={spans} tree={tree} isLoading={isLoading} />}
      {error && <Failure error={error} retry={reload} />}
      {spans.length === 0 && isLoading && <Loading what="the trace" />}
      {spans.length === 0 && !isLoading && !error && <p class="hint">This trace has no spans.</p>}
      {spans.length > 0 && (
        <div class="trace-parts">
          <div class="trace-tree">
            {spans.length > 1 && (
              <div class="trace-tools">
                <input
                  type="search"
                  placeholder="Find in this trace"
                  aria-label="Find in this trace"
                  value={wanted}
                  onInput={(event) => setParameters({ find: event.currentTarget.value })}
                  onKeyDown={(event) => {
                    if (event.key !== 'Enter' || matches.length === 0) return
                    const here = matches.findIndex(({ id }) => id === openId)
                    setParameters({ span: matches[(here + 1) % matches.length]!.id })
                  }}
                />
                <button type="button" onClick={collapseAll}>
                  {collapsed.size > 0 ? 'Open all' : 'Close all'}
                </button>
                {wanted !== '' && (
                  <span class="hint" role="status">
                    {found ? `${number(found.ids.size)} found` : 'Looking…'}
                  </span>
                )}
              </div>
            )}
            {found?.error && <Failure error={found.error} />}
            <TraceLines
              lines={lines}
              openId={openId}
              revealed={matches[0] && lines.indexOf(matches[0])}
              collapsed={collapsed}
              sought={wanted === '' ? nothingSought : [{ part: wanted }]}
              onOpen={(id) => setParameters({ span: id })}
              onToggle={toggle}
            />
          </div>
          {open && (
            <Span
              key={String(open.id)}
              source={source}
              id={String(open.id)}
              sought={wanted === '' ? sought : [...sought, { part: wanted }]}
              onChange={change}
            />
          )}
        </div>
      )}
    </section>
  )
}

/** What the whole trace took and cost. */
function Totals({
  spans,
  tree,
  isLoading,
}: {
  readonly spans: readonly Row[]
  readonly tree: SpanTree
  readonly isLoading: boolean
}) {
  const totals = useMemo(() => {
    const sums = { tokens: 0, cost: 0, models: 0, failed: 0 }
    for (const span of spans) {
      const tokens = at(span, 'metrics', 'total_tokens') ?? at(span, 'metrics', 'tokens')
      const price = at(span, 'metrics', 'estimated_cost')
      if (typeof tokens === 'number') sums.tokens += tokens
      if (typeof price === 'number') sums.cost += price
      if (typeOf(span) === 'llm') sums.models++
      if (isFailed(span)) sums.failed++
    }
    return sums
  }, [spans])
  const start = new Date(tree.start * 1000)
  const begun = Number.isNaN(start.getTime()) ? '' : start.toISOString()
  return (
    <p class="totals">
      <span title={begun}>{time(begun)}</span>
      <span>
        {counted(spans.length, 'span')}
        {isLoading && ', loading more…'}
      </span>
      <span title="From the first start to the last end">{duration(tree.end - tree.start)}</span>
      {totals.models > 0 && <span>{counted(totals.models, 'model call')}</span>}
      {totals.tokens > 0 && <span>{counted(totals.tokens, 'token')}</span>}
      {totals.cost > 0 && <span>{cost(totals.cost)}</span>}
      {totals.failed > 0 && <span class="bad">{counted(totals.failed, 'error')}</span>}
    </p>
  )
}

interface Found {
  readonly ids: ReadonlySet<string>
  readonly error: Error | undefined
}

const typingMs = 250

/** Spans that have the text in their name, at once, or in one of their values, once these are searched. */
function useFound(
  source: string,
  rootSpanId: string,
  text: string,
  spans: readonly Row[],
): Found | undefined {
  const wanted = text.trim()
  const settled = useSettled(wanted)
  const inside = useLoaded<ReadonlySet<string>>(
    settled === '' ? undefined : `${source} ${rootSpanId} ${settled}`,
    async (signal) => {
      const { data } = await query(
        `select: span_id\nfrom: ${source}\n` +
          `filter: root_span_id = ${quoted(rootSpanId)} and search(${quoted(settled)})\nlimit: 1000`,
        signal,
      )
      return new Set(data.map(spanId))
    },
  )
  const values = settled === wanted ? inside.data : undefined
  const ids = useMemo(() => {
    const lower = wanted.toLowerCase()
    const named = spans.filter(
      (span) => nameOf(span).toLowerCase().includes(lower) || typeOf(span) === lower,
    )
    return new Set([...named.map(spanId), ...(values ?? [])])
  }, [spans, wanted, values])
  return wanted === '' ? undefined : { ids, error: inside.error }
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), typingMs)
    return () => window.clearTimeout(timer)
  }, [text])
  return text === '' ? '' : settled
}
