/** The spans of one trace, loaded by the page, without their long values. */
import { useEffect, useState } from 'preact/hooks'
import { query, quoted, type Row } from './query.ts'

/** The first page is small, so that a trace is there at once; the others take few requests. */
const firstPage = 500
const nextPages = 10_000

const fields = [
  'id',
  'span_id',
  'span_parents',
  'root_span_id',
  'is_root',
  'span_attributes',
  'metrics',
  'scores',
  'tags',
  'created',
  'error',
]

export interface LoadedSpans {
  readonly spans: readonly Row[]
  readonly error: Error | undefined
  readonly isLoading: boolean
  /** Loads again; what is there stays until then. */
  reload(): void
}

export function useSpans(source: string, rootSpanId: string): LoadedSpans {
  const [state, setState] = useState<Omit<LoadedSpans, 'reload'>>(nothing)
  const [round, setRound] = useState(0)
  useEffect(() => setState(nothing), [source, rootSpanId])
  useEffect(() => {
    const abandon = new AbortController()
    const { signal } = abandon
    const isFirst = round === 0
    const load = async () => {
      const pages: (readonly Row[])[] = []
      let cursor: string | undefined
      for (;;) {
        const limit = pages.length === 0 ? firstPage : nextPages
        const answer = await query(pageOf(source, rootSpanId, limit, cursor), signal)
        if (signal.aborted) return
        pages.push(answer.data)
        cursor = answer.data.length < limit ? undefined : answer.cursor
        const isLoading = cursor !== undefined
        if (isFirst || !isLoading) setState({ spans: pages.flat(), error: undefined, isLoading })
        if (!isLoading) return
      }
    }
    load().catch((thrown: unknown) => {
      if (signal.aborted) return
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      setState(({ spans }) => ({ spans, error, isLoading: false }))
    })
    return () => abandon.abort()
  }, [source, rootSpanId, round])
  return { ...state, reload: () => setRound((count) => count + 1) }
}

const nothing = { spans: [], error: undefined, isLoading: true } as const

function pageOf(
  source: string,
  rootSpanId: string,
  limit: number,
  cursor: string | undefined,
): string {
  return [
    `select: ${fields.join(', ')}`,
    `from: ${source}`,
    `filter: root_span_id = ${quoted(rootSpanId)}`,
    'preview_length: 200',
    `limit: ${limit}`,
    ...(cursor === undefined ? [] : [`cursor: ${quoted(cursor)}`]),
  ].join('\n')
}
