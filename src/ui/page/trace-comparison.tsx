/** Two traces side by side: their spans as one tree, and what differs in the one that is looked at. */
import { useMemo } from 'preact/hooks'
import { CopyButton } from '../component/copy-button.tsx'
import { cost, counted, duration, isObject, metric, number, score } from '../component/format.ts'
import { Icon } from '../component/icon.tsx'
import { JsonView } from '../component/json-view.tsx'
import { Link } from '../component/link.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { comparableText, TextDifference } from '../component/text-difference.tsx'
import { useLoaded } from '../service/load.ts'
import { query, quoted, type Row } from '../service/query.ts'
import type { TraceSpan } from '../service/trace-span.ts'
import { useSpans } from '../service/trace-spans.ts'
import { addressWith, parameter, setParameters } from '../state/location.ts'
import { type PairLine, pairsOf } from './trace-pairs.ts'
import { type SpanTree, treeOf, usageOf } from './trace-tree.ts'

export interface TraceComparisonProps {
  readonly source: string
  readonly beforeId: string
  readonly afterId: string
}

export function TraceComparison({ source, beforeId, afterId }: TraceComparisonProps) {
  const before = useSpans(source, beforeId, undefined)
  const after = useSpans(source, afterId, undefined)
  const trees = useMemo(
    () => ({ before: treeOf(before.spans), after: treeOf(after.spans) }),
    [before.spans, after.spans],
  )
  const lines = useMemo(() => pairsOf(trees.before, trees.after), [trees])
  const chosen = parameter('pair')
  const open = lines.find((line) => keyOf(line) === chosen) ?? lines[0]
  const error = before.error ?? after.error
  const isLoading = before.isLoading || after.isLoading
  const isMissing = !isLoading && (before.spans.length === 0 || after.spans.length === 0)
  return (
    <section class="trace" aria-label="Two traces">
      <header class="page-head">
        <h2>Two traces side by side</h2>
        <div class="tools">
          <Link
            class="button"
            to={addressWith({ trace: afterId, with: beforeId, pair: undefined })}
          >
            Swap
          </Link>
          <CopyButton label="Copy link" text={() => window.location.href} />
          <button
            type="button"
            onClick={() => setParameters({ with: undefined, pair: undefined })}
            aria-label="Close the comparison"
          >
            <Icon name="close" />
          </button>
        </div>
      </header>
      {error && <Failure error={error} retry={before.error ? before.reload : after.reload} />}
      {isMissing && !error && (
        <p class="hint">
          There is no trace {before.spans.length === 0 ? beforeId : afterId} in these logs, or it is
          not for you to see.
        </p>
      )}
      {isLoading && lines.length === 0 && <Loading what="the traces" />}
      {lines.length > 0 && (
        <>
          <Figures trees={trees} ids={{ before: beforeId, after: afterId }} />
          <div class="trace-parts">
            <PairTree lines={lines} open={open} />
            {open && <OpenPair key={keyOf(open)} source={source} line={open} />}
          </div>
        </>
      )}
    </section>
  )
}

interface Sides<Value> {
  readonly before: Value
  readonly after: Value
}

function keyOf({ before, after }: PairLine): string {
  return `${before?.spanId ?? ''}~${after?.spanId ?? ''}`
}

/** What the traces took as wholes. */
function Figures({ trees, ids }: { readonly trees: Sides<SpanTree>; readonly ids: Sides<string> }) {
  const sums = useMemo(
    () => ({ before: sumsOf(trees.before), after: sumsOf(trees.after) }),
    [trees],
  )
  const rows = [
    { title: 'Duration', text: duration, of: ({ seconds }: Sums) => seconds },
    { title: 'Spans', text: number, of: ({ spans }: Sums) => spans },
    { title: 'Tokens', text: number, of: ({ tokens }: Sums) => tokens },
    { title: 'Cost', text: cost, of: (each: Sums) => each.cost },
    { title: 'Errors', text: number, of: ({ failed }: Sums) => failed },
  ]
  return (
    <table class="pair-figures" aria-label="What the traces took">
      <thead>
        <tr>
          <td />
          <th scope="col">
            <Link to={addressWith({ with: undefined, pair: undefined })}>
              {rootName(trees.before, ids.before)}
            </Link>
          </th>
          <th scope="col">
            <Link to={addressWith({ trace: ids.after, with: undefined, pair: undefined })}>
              {rootName(trees.after, ids.after)}
            </Link>
          </th>
          <th scope="col">Difference</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ title, text, of }) => {
          const [was, is] = [of(sums.before), of(sums.after)]
          return (
            <tr key={title}>
              <th scope="row">{title}</th>
              <td class="number">{text(was)}</td>
              <td class="number">{text(is)}</td>
              <td class="number">
                <Difference before={was} after={is} text={text} />
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

interface Sums {
  readonly seconds: number
  readonly spans: number
  readonly tokens: number
  readonly cost: number
  readonly failed: number
}

function sumsOf(tree: SpanTree): Sums {
  const used = (tree.children.get(undefined) ?? []).map((root) => usageOf(tree, root))
  const length = tree.end - tree.start
  return {
    seconds: Number.isFinite(length) ? length : 0,
    spans: tree.byId.size,
    tokens: used.reduce((sum, { tokens }) => sum + tokens, 0),
    cost: used.reduce((sum, each) => sum + each.cost, 0),
    failed: [...tree.byId.values()].filter(({ hasFailed }) => hasFailed).length,
  }
}

function rootName(tree: SpanTree, id: string): string {
  const [root] = tree.children.get(undefined) ?? []
  return root?.name ?? id
}

/** Less time, cost and failure is better. */
function Difference({
  before,
  after,
  text,
}: {
  readonly before: number
  readonly after: number
  readonly text: (value: number) => string
}) {
  if (before === after) return <span class="hint">same</span>
  const isMore = after > before
  return (
    <span class={isMore ? 'worse' : 'better'}>
      {isMore ? '+' : '−'}
      {text(Math.abs(after - before))}
    </span>
  )
}

const indent = 12
const deepest = 8

/** More lines are not compared by eye; the rest is said. */
const mostLines = 1000

function PairTree({
  lines,
  open,
}: {
  readonly lines: readonly PairLine[]
  readonly open: PairLine | undefined
}) {
  return (
    <div class="pair-lines">
      <table aria-label="Spans side by side">
        <thead>
          <tr>
            <th scope="col">Span</th>
            <th scope="col" class="number">
              First
            </th>
            <th scope="col" class="number">
              Second
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, mostLines).map((line) => {
            const span = line.before ?? line.after!
            return (
              <tr key={keyOf(line)} aria-selected={line === open}>
                <td style={{ paddingLeft: `${8 + Math.min(line.depth, deepest) * indent}px` }}>
                  <button
                    type="button"
                    class="plain"
                    aria-current={line === open}
                    onClick={() => setParameters({ pair: keyOf(line) })}
                  >
                    <span class={`kind ${span.type}`}>{span.type}</span> {span.name}
                  </button>{' '}
                  {!line.before && <span class="tag after">only in the second</span>}
                  {!line.after && <span class="tag after">only in the first</span>}
                </td>
                <SpanTime span={line.before} />
                <SpanTime span={line.after} />
              </tr>
            )
          })}
        </tbody>
      </table>
      {lines.length > mostLines && (
        <p class="hint">
          The first {counted(mostLines, 'line')} of {number(lines.length)}.
        </p>
      )}
    </div>
  )
}

function SpanTime({ span }: { readonly span: TraceSpan | undefined }) {
  if (!span) return <td class="number hint">–</td>
  return (
    <td class={span.hasFailed ? 'number bad' : 'number'}>
      {span.hasFailed && (
        <span role="img" aria-label="failed">
          <Icon name="warning" />
        </span>
      )}
      {duration(span.duration)}
      {span.cost > 0 && <span class="hint"> {cost(span.cost)}</span>}
    </td>
  )
}

const valueFields = ['error', 'input', 'output', 'expected', 'metadata'] as const

/** The values of one span, or of both, and what differs. */
function OpenPair({ source, line }: { readonly source: string; readonly line: PairLine }) {
  const ids = [line.before, line.after].flatMap((span) => span?.id ?? [])
  const { data, error, reload } = useLoaded(`pair ${source} ${ids.join()}`, async (signal) => {
    const answer = await query(
      `select: id, ${[...valueFields, 'metrics', 'scores'].join(', ')}\nfrom: ${source}\n` +
        `filter: id in [${ids.map(quoted).join(', ')}]`,
      signal,
    )
    return new Map(answer.data.map((row) => [String(row.id), row]))
  })
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!data) return <Loading what="the spans" />
  const before = line.before && data.get(line.before.id)
  const after = line.after && data.get(line.after.id)
  const { name } = line.before ?? line.after!
  return (
    <article class="span" aria-label={`Span ${name}`}>
      <h3>{name}</h3>
      <Numbers before={before} after={after} />
      {valueFields.map((field) => (
        <Values key={field} field={field} before={before?.[field]} after={after?.[field]} />
      ))}
    </article>
  )
}

/** Numbers of both, those that differ marked. */
function Numbers({
  before,
  after,
}: {
  readonly before: Row | undefined
  readonly after: Row | undefined
}) {
  const [was, is] = [numbersOf(before), numbersOf(after)]
  const names = [...new Set([...was.keys(), ...is.keys()])].sort()
  if (names.length === 0) return null
  return (
    <table class="pair-figures" aria-label="Metrics and scores">
      <thead>
        <tr>
          <th scope="col" />
          <th scope="col" class="number hint">
            First
          </th>
          <th scope="col" class="number hint">
            Second
          </th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">{name.replaceAll('_', ' ')}</th>
            <td class="number">{was.get(name)?.shown ?? '–'}</td>
            <td class="number">
              {was.get(name)?.value === is.get(name)?.value ? (
                is.get(name)?.shown
              ) : (
                <strong>{is.get(name)?.shown ?? '–'}</strong>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface ShownNumber {
  readonly value: number
  readonly shown: string
}

/** Of metrics and scores, but for the moments at which the span began and ended. */
function numbersOf(row: Row | undefined): ReadonlyMap<string, ShownNumber> {
  const found = new Map<string, ShownNumber>()
  for (const [name, value] of Object.entries(isObject(row?.metrics) ? row.metrics : {})) {
    if (typeof value !== 'number' || name === 'start' || name === 'end') continue
    found.set(name, { value, shown: metric(name, value) })
  }
  for (const [name, value] of Object.entries(isObject(row?.scores) ? row.scores : {})) {
    if (typeof value === 'number') found.set(name, { value, shown: score(value) })
  }
  return found
}

function Values({
  field,
  before,
  after,
}: {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}) {
  const [was, is] = [comparableText(before), comparableText(after)]
  if (was === '' && is === '') return null
  const title = field.charAt(0).toUpperCase() + field.slice(1)
  if (was === is) {
    return (
      <details class="others">
        <summary>{title}: the same in both</summary>
        <JsonView value={after} label={field} />
      </details>
    )
  }
  return (
    <section class={field}>
      <h4>{title}</h4>
      {was !== '' && is !== '' && (
        <div class="json">
          <TextDifference before={was} after={is} />
        </div>
      )}
      <div class="pair-values">
        <JsonView value={before} label={`${field} of the first`} />
        <JsonView value={after} label={`${field} of the second`} />
      </div>
    </section>
  )
}
