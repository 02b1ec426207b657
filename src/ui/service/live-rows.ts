/** Rows that a query finds as they are written, for whoever looks at its newest ones. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { query, type Row } from './query.ts'
import { measured, withClauses } from './query-text.ts'

/** How often it is asked whether something was written. */
const pauseMs = 2000

/** The newest rows, among which those are that came since. */
const newestRows = 100

export interface LiveOptions {
  /** A query without a sort or a limit of its own; undefined listens to nothing. */
  readonly query: string | undefined
  /** The newest rows, newest first: those that came, those that changed, and some that were there. */
  readonly onRows: (rows: readonly Row[]) => void
}

/** While the page cannot be seen, nothing is asked. */
export function useLiveRows({ query: text, onRows }: LiveOptions): {
  readonly error: Error | undefined
} {
  const [error, setError] = useState<Error>()
  const latest = useRef(onRows)
  latest.current = onRows
  useEffect(() => {
    setError(undefined)
    if (text === undefined) return
    const abandon = new AbortController()
    const { signal } = abandon
    const newest = withClauses(text, { limit: String(newestRows), preview_length: '300' })
    const written = measured(text, 'max(_xact_id) as version')
    let known: unknown
    const ask = async () => {
      if (document.hidden) return
      const { data } = await query(written, signal)
      const version = data[0]?.version
      const isOther = known !== undefined && version !== known
      known = version ?? null
      if (!isOther) return
      const { data: rows } = await query(newest, signal)
      if (!signal.aborted) latest.current(rows)
    }
    const loop = async () => {
      while (!signal.aborted) {
        try {
          await ask()
          setError(undefined)
        } catch (thrown) {
          if (signal.aborted) return
          setError(thrown instanceof Error ? thrown : new Error(String(thrown)))
        }
        await new Promise((resolve) => window.setTimeout(resolve, pauseMs))
      }
    }
    void loop()
    return () => abandon.abort()
  }, [text])
  return { error }
}
