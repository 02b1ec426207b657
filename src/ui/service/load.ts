/** Data that a component shows: loading, there, or failed; abandoned when it is no longer wanted. */
import { useEffect, useState } from 'preact/hooks'

export interface Loaded<Data> {
  /** What came last; kept while newer data is on its way. */
  readonly data: Data | undefined
  readonly error: Error | undefined
  readonly isLoading: boolean
  reload(): void
}

/**
 * @param key says what is loaded: another key loads anew. Undefined loads nothing.
 */
export function useLoaded<Data>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<Data>,
): Loaded<Data> {
  const [state, setState] = useState<State<Data>>(nothing)
  const [round, setRound] = useState(0)
  useEffect(() => {
    if (key === undefined) {
      setState(nothing)
      return
    }
    const abandon = new AbortController()
    setState(({ data }) => ({ key, data, error: undefined, isLoading: true }))
    load(abandon.signal).then(
      (data) => {
        if (!abandon.signal.aborted) setState({ key, data, error: undefined, isLoading: false })
      },
      (error: unknown) => {
        if (abandon.signal.aborted) return
        const shown = error instanceof Error ? error : new Error(String(error))
        setState(({ data }) => ({ key, data, error: shown, isLoading: false }))
      },
    )
    return () => abandon.abort()
    // `load` is made anew by each render; what it loads is told by the key.
  }, [key, round])
  const { data, error, isLoading } = state
  return {
    data,
    error,
    // Before it is begun, too: a picture that is replaced at once takes keys that are meant for the next.
    isLoading: isLoading || state.key !== key,
    reload: () => setRound((count) => count + 1),
  }
}

interface State<Data> extends Omit<Loaded<Data>, 'reload'> {
  /** What was loaded last, or is under way. */
  readonly key: string | undefined
}

const nothing = { key: undefined, data: undefined, error: undefined, isLoading: false } as const

/** How often what is under way is looked at. */
const reloadMs = 1000

/** Loads again and again while something is under way. */
export function useReloadWhile(isUnderWay: boolean, reload: () => void): void {
  useEffect(() => {
    if (!isUnderWay) return
    const timer = window.setInterval(() => {
      if (document.visibilityState === 'visible') reload()
    }, reloadMs)
    return () => window.clearInterval(timer)
  }, [isUnderWay])
}
