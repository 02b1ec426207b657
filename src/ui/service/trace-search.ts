/** Looks for a text in the spans of one trace. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useLoaded } from './load.ts'
import { query, quoted } from './query.ts'
import type { TraceSpan } from './trace-span.ts'

export interface FoundSpans {
  /** Of the spans. */
  readonly ids: ReadonlySet<string>
  readonly error: Error | undefined
}

/** Of a word that is being written. */
const typingMs = 250

/**
 * Spans that have the text in their name, at once, or in one of their values, once these are searched.
 *
 * @returns undefined where nothing is looked for
 */
export function useFoundSpans(
  source: string,
  rootSpanId: string,
  text: string,
  spans: readonly TraceSpan[],
): FoundSpans | undefined {
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
      return new Set(data.map(({ span_id }) => String(span_id)))
    },
  )
  const values = settled === wanted ? inside.data : undefined
  const ids = useMemo(() => {
    const found = new Set(values)
    if (wanted === '') return found
    const lower = wanted.toLowerCase()
    for (const { spanId, name, type } of spans) {
      if (type === lower || name.toLowerCase().includes(lower)) found.add(spanId)
    }
    return found
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
