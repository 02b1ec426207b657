/** What the parts of a project's home ask of its logs. */
import type { Period } from '../service/home-period.ts'
import { type Loaded, useLoaded } from '../service/load.ts'

export interface Asked {
  /** `project_logs('…')` */
  readonly source: string
  readonly period: Period
  /** Another one asks again. */
  readonly round: number
}

/** What was asked of one period is not shown for another. */
export function useAsked<Data>(
  what: string,
  { source, period, round }: Asked,
  load: (source: string, period: Period, signal: AbortSignal) => Promise<Data>,
): Loaded<Data> {
  const key = `${what} ${source} ${period.id} ${period.to} ${round}`
  const loaded = useLoaded(key, async (signal) => ({
    key,
    data: await load(source, period, signal),
  }))
  const isThis = loaded.data?.key === key
  return { ...loaded, data: isThis ? loaded.data?.data : undefined }
}
