/** The spans of one trace, loaded by the page, as far as a tree of them shows them. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { at, query, quoted, type Row } from './query.ts'
import { durationOf, endOf, nameOf, startOf, typeOf } from './span-facts.ts'
import type { TraceSpan } from './trace-span.ts'

export interface LoadedSpans {
  /** Parents may come after their children. */
  readonly spans: readonly TraceSpan[]
  readonly error: Error | undefined
  readonly isLoading: boolean
  /** The trace has more spans than are shown. */
  readonly isCut: boolean
  /** Loads again; what is there stays until then. */
  reload(): void
  /** Loads one span again, which was changed. */
  refresh(id: string): void
}

/** The first page is that of the root, small, so that a trace is there at once. */
const firstPage = 500

/** Read within a frame. */
const nextPages = 4000

/** More are not read by people, and would take a browser's memory. */
export const mostSpans = 100_000

type State = Omit<LoadedSpans, 'reload' | 'refresh'>

const nothing: State = { spans: [], error: undefined, isLoading: true, isCut: false }

/** @param chosen id of a span that is wanted with the first ones, wherever in the trace it is */
export function useSpans(
  source: string,
  rootSpanId: string,
  chosen: string | undefined,
): LoadedSpans {
  const [state, setState] = useState(nothing)
  const [round, setRound] = useState(0)
  const leaving = useRef<AbortSignal>(undefined)
  const trace = `from: ${source}\nfilter: root_span_id = ${quoted(rootSpanId)}`
  useEffect(() => setState(nothing), [trace])
  useEffect(() => {
    const abandon = new AbortController()
    const { signal } = abandon
    leaving.current = signal
    load(trace, chosen, signal, (next) => {
      // Again, the whole takes the place of what is there.
      if (round === 0 || !next.isLoading) setState(next)
    }).catch((thrown: unknown) => {
      if (signal.aborted) return
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      setState((before) => ({ ...before, error, isLoading: false }))
    })
    return () => abandon.abort()
  }, [trace, round])

  const reload = () => setRound((count) => count + 1)
  const refresh = async (id: string) => {
    const signal = leaving.current
    const { data } = await query(pageOf(`${trace} and id = ${quoted(id)}`, 'limit: 1'), signal)
    if (signal?.aborted) return
    const [changed] = data.map(readSpan)
    setState((before) => ({
      ...before,
      spans: before.spans.map((span) => (span.id === id && changed ? changed : span)),
    }))
  }
  return { ...state, reload, refresh: (id) => void refresh(id).catch(reload) }
}

/** Tells of the first spans, then each time that there are twice as many, so that few trees are made. */
async function load(
  trace: string,
  chosen: string | undefined,
  signal: AbortSignal,
  onChange: (state: State) => void,
): Promise<void> {
  const spans = new Map<string, TraceSpan>()
  let told = 0
  const take = (rows: readonly Row[], isLast: boolean) => {
    for (const row of rows) {
      const span = readSpan(row)
      spans.set(span.id, span)
    }
    if (!isLast && spans.size < 2 * told) return
    told = spans.size
    const isCut = isLast && spans.size >= mostSpans
    onChange({ spans: [...spans.values()], error: undefined, isLoading: !isLast, isCut })
  }
  const [first, wanted] = await Promise.all([
    query(pageOf(trace, `sort: _pagination_key asc\nlimit: ${firstPage}`), signal),
    chosen === undefined
      ? undefined
      : query(pageOf(`${trace} and span_id = ${quoted(chosen)}`, 'limit: 1'), signal),
  ])
  if (signal.aborted) return
  const isWhole = first.data.length < firstPage
  take([...first.data, ...(wanted?.data ?? [])], isWhole)
  if (isWhole) return
  let cursor = ''
  for (;;) {
    const page = await query(pageOf(trace, `limit: ${nextPages}${cursor}`), signal)
    if (signal.aborted) return
    const isLast = page.cursor === undefined || page.data.length < nextPages
    take(page.data, isLast || spans.size >= mostSpans)
    if (isLast || spans.size >= mostSpans) return
    cursor = `\ncursor: ${quoted(page.cursor)}`
  }
}

/** Few fields, most of whose texts are copied as they are stored. */
const fields =
  'id, span_id, span_parents, span_attributes, metrics, scores, created, error,' +
  ' estimated_cost() as cost, repeats_usage() as repeats_usage, metadata.model as model'

/** Of a model's name; errors are asked only whether they are there. */
const longestText = 80

function pageOf(trace: string, page: string): string {
  return `select: ${fields}\n${trace}\npreview_length: ${longestText}\n${page}`
}

function readSpan(row: Row): TraceSpan {
  const number = (value: unknown) => (typeof value === 'number' ? value : 0)
  const firstToken = at(row, 'metrics', 'time_to_first_token')
  return {
    id: String(row.id),
    spanId: String(row.span_id),
    parents: Array.isArray(row.span_parents) ? row.span_parents.map(String) : [],
    name: nameOf(row),
    type: typeOf(row),
    start: startOf(row),
    end: endOf(row),
    duration: durationOf(row),
    hasFailed: row.error !== null && row.error !== undefined,
    scores: Object.entries(row.scores ?? {}).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number',
    ),
    isRepeated: row.repeats_usage === true,
    tokens: number(at(row, 'metrics', 'total_tokens') ?? at(row, 'metrics', 'tokens')),
    cost: number(row.cost),
    model: typeof row.model === 'string' && row.model !== '' ? row.model : undefined,
    firstToken: typeof firstToken === 'number' ? firstToken : undefined,
  }
}
