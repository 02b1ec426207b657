/** All experiments of a project, page after page, with their totals. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Experiment, type ExperimentTotals, listExperiments, totalsOf } from './experiment.ts'

export interface ListedExperiment extends Experiment {
  /** Null without records; undefined until it is known. */
  readonly totals: ExperimentTotals | null | undefined
}

/** Experiments of a page: their totals take one query. */
const pageSize = 100

export interface ExperimentList {
  readonly items: readonly ListedExperiment[]
  readonly error: Error | undefined
  readonly isLoading: boolean
  /** There are no others. */
  readonly isWhole: boolean
  more(): void
  reload(): void
}

/** @param isWholeWanted loads all pages, as a search or an order over all of them needs. */
export function useExperimentList(projectId: string, isWholeWanted: boolean): ExperimentList {
  const [items, setItems] = useState<readonly ListedExperiment[]>([])
  const [error, setError] = useState<Error>()
  const [isLoading, setLoading] = useState(true)
  const [isWhole, setWhole] = useState(false)
  const [round, setRound] = useState(0)
  const abandon = useRef(new AbortController())

  const load = async (before: readonly ListedExperiment[]) => {
    const { signal } = abandon.current
    setLoading(true)
    setError(undefined)
    try {
      const page = { after: before.at(-1)?.id, limit: pageSize }
      const found = await listExperiments(projectId, page, signal)
      if (signal.aborted) return
      setItems([...before, ...found.map((each) => ({ ...each, totals: undefined }))])
      const ids = found.map(({ id }) => id)
      const totals = await totalsOf(ids, signal)
      if (signal.aborted) return
      const listed = found.map((each) => ({ ...each, totals: totals.get(each.id) ?? null }))
      setItems([...before, ...listed])
      setWhole(found.length < pageSize)
    } catch (thrown) {
      if (!signal.aborted) setError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    } finally {
      if (!signal.aborted) setLoading(false)
    }
  }

  useEffect(() => {
    abandon.current = new AbortController()
    setWhole(false)
    void load([])
    return () => abandon.current.abort()
  }, [projectId, round])

  const more = () => {
    if (!isLoading && !isWhole && !error) void load(items)
  }
  useEffect(() => {
    if (isWholeWanted) more()
  }, [isWholeWanted, isLoading, items.length])

  return { items, error, isLoading, isWhole, more, reload: () => setRound((count) => count + 1) }
}
