/** The tree of a trace with a waterfall; of its lines only those in sight are in the document. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { cost, counted, duration, score } from '../component/format.ts'
import { Icon } from '../component/icon.tsx'
import { Marked, type Sought } from '../component/marked.tsx'
import { useSight } from '../component/table-sight.ts'
import type { TraceSpan } from '../service/trace-span.ts'
import type { TreeLine } from './trace-tree.ts'

export interface TraceLinesProps {
  readonly lines: readonly TreeLine[]
  /** From the first start to the last end. */
  readonly seconds: number
  readonly openId: string | undefined
  /** The place of a line that is brought into sight when this changes. */
  readonly revealed: number | undefined
  readonly collapsed: ReadonlySet<string>
  /** What names are marked by. */
  readonly sought: readonly Sought[]
  readonly onOpen: (id: string) => void
  readonly onToggle: (id: string) => void
}

const lineSize = { height: 26, head: 24, foot: 0 }
const indent = 12

/** Scores that a line has room for. */
const mostScores = 3

/** Levels that are moved to the right; deeper ones would leave no room for names. */
const deepest = 8

export function TraceLines(props: TraceLinesProps) {
  const { lines, seconds, openId, revealed, collapsed, sought, onOpen, onToggle } = props
  const viewport = useRef<HTMLDivElement>(null)
  const takesFocus = useRef(false)
  const sight = useSight(viewport, lines.length, lineSize)
  const place = lines.findIndex(({ id }) => id === openId)
  useEffect(() => {
    if (place >= 0) sight.reveal(place)
  }, [place])
  useEffect(() => {
    if (revealed !== undefined) sight.reveal(revealed)
  }, [revealed])
  useLayoutEffect(() => {
    if (!takesFocus.current) return
    const line = viewport.current?.querySelector<HTMLElement>('[aria-selected=true]')
    if (!line) return
    takesFocus.current = false
    line.focus({ preventScroll: true })
  }, [openId, sight.from])
  const open = (to: number) => {
    const line = lines[Math.max(0, Math.min(lines.length - 1, to))]
    if (!line) return
    takesFocus.current = true
    onOpen(line.id)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const line = lines[place]
    if (!line || event.ctrlKey || event.metaKey || event.altKey) return
    const isClosed = collapsed.has(line.id)
    const parent = lines.findIndex(({ id }) => id === line.parentId)
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => open(place + 1),
      ArrowUp: () => open(place - 1),
      PageDown: () => open(place + 10),
      PageUp: () => open(place - 10),
      Home: () => open(0),
      End: () => open(lines.length - 1),
      ArrowRight: () => (isClosed ? onToggle(line.id) : open(place + 1)),
      ArrowLeft: () => {
        if (line.childCount > 0 && !isClosed) onToggle(line.id)
        else if (parent >= 0) open(parent)
      },
    }
    const taken = keys[event.key]
    if (!taken) return
    event.preventDefault()
    taken()
  }
  const active = Math.max(place, 0)
  return (
    <div
      class="spans"
      ref={viewport}
      role="tree"
      tabIndex={-1}
      aria-label="Spans"
      onKeyDown={onKeyDown}
    >
      <Axis seconds={seconds} />
      <div style={{ height: `${sight.above}px` }} />
      {lines.slice(sight.from, sight.to).map((line, i) => (
        <Line
          key={line.id}
          line={line}
          isOpen={line.id === openId}
          isActive={sight.from + i === active}
          isCollapsed={collapsed.has(line.id)}
          sought={sought}
          onOpen={onOpen}
          onToggle={onToggle}
        />
      ))}
      <div style={{ height: `${sight.below}px` }} />
    </div>
  )
}

/** The time of the trace, above the bars; the lines tell each for itself when it was. */
function Axis({ seconds }: { readonly seconds: number }) {
  return (
    <div class="span-line span-axis" aria-hidden="true">
      <span>Span</span>
      <span>
        {seconds > 0 && [0, seconds / 2, seconds].map((at) => <span key={at}>{duration(at)}</span>)}
      </span>
      <span class="number">Duration</span>
    </div>
  )
}

function Line({
  line,
  isOpen,
  isActive,
  isCollapsed,
  sought,
  onOpen,
  onToggle,
}: {
  readonly line: TreeLine
  readonly isOpen: boolean
  readonly isActive: boolean
  readonly isCollapsed: boolean
  readonly sought: readonly Sought[]
  readonly onOpen: (id: string) => void
  readonly onToggle: (id: string) => void
}) {
  const { span, id, depth, childCount, left, width } = line
  const { type, hasFailed } = span
  return (
    <div
      role="treeitem"
      tabIndex={isActive ? 0 : -1}
      aria-level={depth + 1}
      aria-selected={isOpen}
      aria-expanded={childCount > 0 ? !isCollapsed : undefined}
      class="span-line"
      onClick={() => onOpen(id)}
      onKeyDown={(event) => event.key === 'Enter' && onOpen(id)}
    >
      <span class="span-name" style={{ paddingLeft: `${Math.min(depth, deepest) * indent}px` }}>
        {childCount > 0 ? (
          <button
            type="button"
            class="plain"
            tabIndex={-1}
            aria-label={isCollapsed ? 'Open' : 'Close'}
            onClick={(event) => {
              event.stopPropagation()
              onToggle(id)
            }}
          >
            <Icon name={isCollapsed ? 'right' : 'down'} />
          </button>
        ) : (
          <span class="no-toggle" />
        )}
        <span class={`kind ${type}`}>{type}</span>
        <span class={hasFailed ? 'span-title bad' : 'span-title'} title={span.name}>
          {hasFailed && (
            <span role="img" aria-label="failed">
              <Icon name="warning" />
            </span>
          )}
          <Marked text={span.name} sought={sought} />
        </span>
        {isCollapsed && <span class="hint">{childCount} below</span>}
        <Scores scores={span.scores} />
        <Facts span={span} />
      </span>
      <span class="span-bar">
        <span
          class={hasFailed ? 'failed' : type}
          style={{ left: `${left * 100}%`, width: `${Math.max(width * 100, 0.5)}%` }}
        />
      </span>
      <span class="number">{duration(span.duration)}</span>
    </div>
  )
}

/** What a model's call took: as many of them as there is room for. */
function Facts({ span }: { readonly span: TraceSpan }) {
  const { model, tokens, firstToken, isRepeated } = span
  const facts = [
    ...(model === undefined ? [] : [model]),
    ...(tokens > 0 && !isRepeated ? [counted(tokens, 'token')] : []),
    ...(span.cost > 0 && !isRepeated ? [cost(span.cost)] : []),
    ...(firstToken === undefined ? [] : [`first token ${duration(firstToken)}`]),
  ]
  if (facts.length === 0) return null
  return (
    <span class="span-facts hint" title={facts.join(' · ')}>
      {facts.map((fact, place) => (
        <span key={fact}>
          {place > 0 && '\u00a0· '}
          {fact}
        </span>
      ))}
    </span>
  )
}

function Scores({ scores }: Pick<TraceSpan, 'scores'>) {
  return scores.slice(0, mostScores).map(([name, value]) => (
    <span class="span-score" key={name}>
      {name} {score(value)}
    </span>
  ))
}
