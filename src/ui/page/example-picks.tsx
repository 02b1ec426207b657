/** Examples of an experiment that are selected, and what may be done with them. */
import { useEscapeKey } from '../component/escape-key.ts'
import { lazy } from '../component/lazy.tsx'
import { type Picked, sizeOf } from '../service/picked-rows.ts'
import { withClauses } from '../service/query-text.ts'
import { useMay, useRights } from '../service/rights.ts'
import { parts } from '../state/location.ts'
import { useStateOf } from '../state/state-of.ts'
import type { FoundWords } from './found-rows.tsx'

const PickedBar = lazy('what can be done', async () => (await import('./picked-bar.tsx')).PickedBar)

export interface ExamplePicksOptions {
  readonly projectId: string
  readonly experimentId: string
  readonly found: FoundWords
  /** The clause by which the table is sorted. */
  readonly sort: string | undefined
  readonly total: number | undefined
  /** Of the rows that are shown. */
  readonly ids: readonly string[]
  readonly isOpen: boolean
  readonly onChange: () => void
}

const nobody: Picked = { ids: new Set() }

export function useExamplePicks(options: ExamplePicksOptions) {
  const { projectId, experimentId, found, sort, total, ids, isOpen, onChange } = options
  const text = found.isOfSource ? found.text : undefined
  const [picked, setPicked] = useStateOf([text, sort], nobody)
  const { data: rights } = useRights('project', projectId)
  const mayChange = useMay('experiment', experimentId)('update')
  const inDatasets = rights?.within.dataset ?? []
  // Who may only make datasets may not write to them.
  const mayAdd = inDatasets.includes('update')
  const count = sizeOf(picked)
  useEscapeKey(count > 0 && !isOpen, () => setPicked(nobody))
  const isPossible = text !== undefined && (rights === undefined || mayChange !== false || mayAdd)
  const chosen = 'ids' in picked ? picked.ids : new Set(ids)
  const table = isPossible
    ? { chosen, onChoose: (next: ReadonlySet<string>) => setPicked({ ids: next }) }
    : undefined
  const all =
    text === undefined || total === undefined
      ? undefined
      : { query: sort === undefined ? text : withClauses(text, { sort }), count: total }
  const bar = isPossible && rights !== undefined && count > 0 && (
    <PickedBar
      projectName={parts.value[3] ?? ''}
      projectId={projectId}
      rows={{ kind: 'example', place: { type: 'experiment', objectId: experimentId }, picked }}
      all={all}
      mayChange={mayChange ?? false}
      mayAdd={mayAdd}
      onPick={setPicked}
      onChange={onChange}
    />
  )
  return { table, bar }
}
