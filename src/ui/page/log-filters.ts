/** What the logs are filtered by: the terms of the search, and the values that are shown. */
import { useRef } from 'preact/hooks'
import { termsOf, textWith, withTerm } from '../service/filter-terms.ts'
import type { Interpretation } from '../service/query.ts'
import type { PagesOfRows } from '../service/row-pages.ts'
import type { LogView } from './log-view.ts'
import { offersOfCell, offersOfValue } from './value-offers.ts'

interface Search {
  readonly taken: Interpretation | undefined
  /** Its query, of the rows in the time that was chosen. */
  readonly narrowed: string | undefined
  /** Where rows come from. */
  readonly shaped: string
}

export interface LogFilters {
  /** Undefined before the first search was read. */
  readonly query: string | undefined
  readonly terms: readonly string[]
  add(term: string): void
  replace(terms: readonly string[]): void
}

interface Asked {
  readonly terms: readonly string[]
  readonly before: Interpretation
}

/** What the search was taken for last stays while the next is being read. */
export function useLogFilters(
  { taken, narrowed, shaped }: Search,
  search: (text: string) => void,
): LogFilters {
  const last = useRef<{ readonly taken: Interpretation; readonly narrowed: string }>(undefined)
  /** What was chosen, until the service has read it: boxes are ticked at once. */
  const asked = useRef<Asked>(undefined)
  if (taken && taken !== asked.current?.before) asked.current = undefined
  if (taken && narrowed !== undefined) last.current = { taken, narrowed }
  const known = last.current
  const terms = asked.current?.terms ?? (known ? termsOf(known.taken.filter) : [])
  const replace = (next: readonly string[]) => {
    if (!known) return
    asked.current = { terms: next, before: known.taken }
    search(textWith(known.taken, shaped, next))
  }
  return {
    query: known?.narrowed,
    terms,
    add: (term) => replace(withTerm(terms, term)),
    replace,
  }
}

interface ShownRows {
  readonly rows: PagesOfRows['rows']
  readonly columns: readonly { readonly id: string }[]
  readonly rowsAre: LogView['rowsAre']
  readonly isRecords: boolean
}

/** The filters by the value at a place of the page. */
export function offersIn(target: Element, { rows, columns, rowsAre, isRecords }: ShownRows) {
  const cell = target.closest('td')
  const line = cell?.closest('tr[data-index]')
  if (!cell || !line) return offersOfValue(target, rowsAre)
  const row = rows.at(Number(line.getAttribute('data-index')))
  const cells = [...line.querySelectorAll('td:not(.choice)')]
  const column = columns[cells.indexOf(cell)]
  if (!row || !column || !isRecords) return undefined
  return { place: cell, offers: offersOfCell(row, column.id, target, rowsAre) }
}
