/** Rows of the logs that are selected, what may be done with them, and how the table shows the change. */
import { useMemo } from 'preact/hooks'
import { useEscapeKey } from '../component/escape-key.ts'
import { lazy } from '../component/lazy.tsx'
import type { Selection } from '../component/table.tsx'
import { isOneOf, type Picked, type RowKind, sizeOf } from '../service/picked-rows.ts'
import { query, type Row } from '../service/query.ts'
import { clauseOf, forTable, withClauses, withCondition } from '../service/query-text.ts'
import { useRights } from '../service/rights.ts'
import type { PagesOfRows } from '../service/row-pages.ts'
import { useStateOf } from '../state/state-of.ts'

const PickedBar = lazy('what can be done', async () => (await import('./picked-bar.tsx')).PickedBar)

/** More rows than this are loaded anew when they have changed. */
const mostShownAnew = 500

export interface LogPicksOptions {
  readonly projectId: string
  readonly projectName: string
  /** The query of the table; undefined while rows cannot be selected. */
  readonly shown: string | undefined
  readonly pages: PagesOfRows
  /** The field that tells rows apart. */
  readonly idOf: string
  /** Of what is selected besides the rows. */
  readonly fields: readonly string[]
  /** Something is open beside the table, which Escape closes first. */
  readonly isOpen: boolean
}

const nobody: Picked = { ids: new Set() }

export function useLogPicks(options: LogPicksOptions) {
  const { projectId, projectName, shown, pages, idOf, fields, isOpen } = options
  const { rows, total } = pages
  const [picked, setPicked] = useStateOf([shown], nobody)
  const { data: rights } = useRights('project', projectId)
  const mayChange = rights?.within.project_log?.includes('update') ?? false
  const inDatasets = rights?.within.dataset ?? []
  // Who may only make datasets may not write to them.
  const mayAdd = inDatasets.includes('update')
  // Until that is known the column has its place, lest all others move when it is.
  const isPossible = shown !== undefined && (rights === undefined || mayChange || mayAdd)
  const count = sizeOf(picked)
  useEscapeKey(count > 0 && !isOpen, () => setPicked(nobody))
  const ids = useMemo(() => ('ids' in picked ? picked.ids : idsIn(rows, idOf)), [picked, rows])
  const selection: Selection | undefined = isPossible
    ? { ids, onChange: (next) => setPicked({ ids: next }) }
    : undefined
  const showChange = async (isDeleted: boolean) => {
    if (shown === undefined || isDeleted || !('ids' in picked) || count > mostShownAnew) {
      pages.reload()
      return
    }
    const some = withCondition(shown, isOneOf(idOf, [...picked.ids]))
    const { data } = await query(withClauses(forTable(some, fields), { limit: String(count) }))
    const present = idsIn(rows, idOf)
    pages.take(
      data.filter((row) => present.has(String(row[idOf]))),
      idOf,
    )
  }
  const kind: RowKind = idOf === 'root_span_id' ? 'trace' : 'span'
  const hasLimit = shown !== undefined && clauseOf(shown, 'limit') !== undefined
  const bar = isPossible && rights !== undefined && count > 0 && (
    <PickedBar
      projectName={projectName}
      projectId={projectId}
      rows={{ kind, place: { type: 'project_logs', objectId: projectId }, picked }}
      all={total === undefined || hasLimit ? undefined : { query: shown, count: total }}
      mayChange={mayChange}
      mayAdd={mayAdd}
      onPick={setPicked}
      onChange={(isDeleted) => void showChange(isDeleted)}
    />
  )
  return { selection, bar }
}

/** Of the rows that are loaded. */
function idsIn(rows: PagesOfRows['rows'], idOf: string): ReadonlySet<string> {
  const ids = new Set<string>()
  for (let i = 0; i < rows.length; i++) {
    const row: Row | undefined = rows.at(i)
    if (row) ids.add(String(row[idOf]))
  }
  return ids
}
