/** One trace: its spans as a tree with a waterfall, and the one that is looked at. */
import { useMemo, useState } from 'preact/hooks'
import { CopyButton } from '../component/copy-button.tsx'
import { counted, number } from '../component/format.ts'
import { Icon } from '../component/icon.tsx'
import { nothingSought, type Sought } from '../component/marked.tsx'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { placeOf } from '../service/feedback.ts'
import { quoted } from '../service/query.ts'
import { useMayChangeRecords } from '../service/rights.ts'
import { useFoundSpans } from '../service/trace-search.ts'
import { mostSpans, useSpans } from '../service/trace-spans.ts'
import { openBeside, parameter, setParameters } from '../state/location.ts'
import { CompareTrace } from './compare-trace.tsx'
import { Span } from './span.tsx'
import { TraceLines } from './trace-lines.tsx'
import { Totals } from './trace-totals.tsx'
import { linesOf, treeOf, usageOf } from './trace-tree.ts'

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
  const chosen = parameter('span')
  const loaded = useSpans(source, rootSpanId, chosen)
  const { spans, error, isLoading, isCut, reload, refresh } = loaded
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set())
  const tree = useMemo(() => treeOf(spans), [spans])
  const wanted = parameter('find') ?? ''
  const found = useFoundSpans(source, rootSpanId, wanted, spans)
  const lines = useMemo(
    () => linesOf(tree, { collapsed, found: found?.ids }),
    [tree, collapsed, found?.ids],
  )
  const matches = found ? lines.filter(({ id }) => found.ids.has(id)) : []
  const open = tree.byId.get(chosen ?? '') ?? lines[0]?.span
  const [root] = tree.children.get(undefined) ?? []
  const mayChange = useMayChangeRecords(placeOf(source))
  const usage = useMemo(() => open && usageOf(tree, open), [tree, open])
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
  const change = (id: string) => {
    refresh(id)
    onChange?.()
  }
  return (
    <section class="trace" aria-label="Trace">
      <header class="page-head">
        <h2 title={root?.name}>{root && root.name !== root.spanId ? root.name : 'Trace'}</h2>
        <div class="tools">
          {onStep && (
            <>
              <button
                type="button"
                aria-label="Previous row"
                title="Previous (k)"
                onClick={() => onStep(-1)}
              >
                <Icon name="arrow-up" />
              </button>
              <button
                type="button"
                aria-label="Next row"
                title="Next (j)"
                onClick={() => onStep(1)}
              >
                <Icon name="arrow-down" />
              </button>
            </>
          )}
          {root && <CompareTrace source={source} rootSpanId={rootSpanId} name={root.name} />}
          <CopyButton label="Copy link" text={() => window.location.href} />
          <button
            type="button"
            class="for-wide"
            aria-pressed={isWide}
            title={isWide ? 'Show the table beside it' : 'Give it the whole page'}
            onClick={() =>
              isWide ? setParameters({ wide: undefined }) : openBeside({ wide: 'yes' })
            }
          >
            Full page
          </button>
          <button type="button" onClick={onClose} aria-label="Close the trace">
            <Icon name="close" />
          </button>
        </div>
      </header>
      {spans.length > 0 && <Totals spans={spans} tree={tree} isLoading={isLoading} />}
      {isCut && (
        <p class="hint">
          {counted(mostSpans, 'span')} are shown. Others are found in the logs by{' '}
          <code>root_span_id = {quoted(rootSpanId)}</code>.
        </p>
      )}
      {error && <Failure error={error} retry={reload} />}
      {spans.length === 0 && isLoading && <Loading what="the trace" />}
      {spans.length === 0 && !isLoading && !error && (
        <Empty sketch="rows" title="There is no such trace">
          <p>It was deleted, or the address has another id.</p>
        </Empty>
      )}
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
                    const here = matches.findIndex(({ id }) => id === open?.spanId)
                    setParameters({ span: matches[(here + 1) % matches.length]!.id })
                  }}
                />
                <button type="button" onClick={collapseAll}>
                  {collapsed.size > 0 ? 'Expand all' : 'Collapse all'}
                </button>
                {wanted !== '' && (
                  <span class="hint" role="status">
                    {isLoading && lines.length === 0
                      ? 'Looking…'
                      : `${number(found?.ids.size ?? 0)} found`}
                  </span>
                )}
              </div>
            )}
            {found?.error && <Failure error={found.error} />}
            <TraceLines
              lines={lines}
              seconds={tree.end - tree.start}
              openId={open?.spanId}
              revealed={matches[0] && lines.indexOf(matches[0])}
              collapsed={collapsed}
              sought={wanted === '' ? nothingSought : [{ part: wanted }]}
              onOpen={(id) => setParameters({ span: id })}
              onToggle={toggle}
            />
          </div>
          {open && (
            <Span
              key={open.id}
              source={source}
              id={open.id}
              sought={wanted === '' ? sought : [...sought, { part: wanted }]}
              mayChange={mayChange}
              usage={usage}
              onChange={() => change(open.id)}
            />
          )}
        </div>
      )}
    </section>
  )
}
