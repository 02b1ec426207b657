/** Rows of a source that the words in the address find, by the page, with the input for the words. */
import { Pages } from '../component/pages.tsx'
import { SearchInput } from '../component/search-input.tsx'
import { pageOf, type RowsPage } from '../service/experiment-rows.ts'
import { type Loaded, useLoaded } from '../service/load.ts'
import { type Interpretation, interpret, type Row } from '../service/query.ts'
import { isOfRecords } from '../service/query-text.ts'
import { addressWith, parameter, setParameters } from '../state/location.ts'

/** Rows of a page of a table. */
export const pageSize = 100

/** From 1, as the address says. */
export function pageNumber(): number {
  return Math.max(1, Math.floor(Number(parameter('page') ?? 1)) || 1)
}

export interface FoundWords {
  readonly words: string
  readonly taken: Loaded<Interpretation>
  /** The query; undefined until the words are read. */
  readonly text: string | undefined
  /** Whether rows are those of the source, not groups or whatever else a query gives. */
  readonly isOfSource: boolean
}

/** What the words are taken for; without words it is everything. */
export function useFoundWords(source: string): FoundWords {
  const words = parameter('q') ?? ''
  const taken = useLoaded<Interpretation>(`words ${words} ${source}`, (signal) =>
    words === '' ? Promise.resolve(everything(source)) : interpret(words, source, signal),
  )
  const text = taken.data?.query
  return { words, taken, text, isOfSource: text === undefined || isOfRecords(text) }
}

function everything(source: string): Interpretation {
  const explanation = 'everything, newest first'
  return { kind: 'btql', query: `select: *\nfrom: ${source}`, filter: null, explanation }
}

export interface PageOfFound {
  /** The clause's text; without it the query's own order. */
  readonly sort?: string | undefined
  /** An `_xact_id`: records as they were then. */
  readonly version?: string | undefined
  /** Another number loads them anew. */
  readonly round?: number
}

/** @param text undefined loads nothing */
export function useFoundPage(
  text: string | undefined,
  { sort, version, round = 0 }: PageOfFound = {},
): FoundPage {
  const page = pageNumber()
  const of = `${text} ${page} ${version}`
  const rows = useLoaded(
    text === undefined ? undefined : `rows ${of} ${sort} ${round}`,
    async (signal) => ({
      ...(await pageOf(text!, { sort, page, pageSize, version }, signal)),
      of,
    }),
  )
  return { ...rows, shown: rows.data?.rows ?? [], isOfThis: rows.data?.of === of }
}

interface FoundPage extends Loaded<RowsPage> {
  readonly shown: readonly Row[]
  /** What came last is of this query, page and version: it stays while another is on its way. */
  readonly isOfThis: boolean
}

/** Whether there is nothing at all, rather than nothing that was found. */
export function isNothing({ words, taken }: FoundWords, { shown, isOfThis }: FoundPage): boolean {
  const isOfAll = words === '' && !taken.isLoading && pageNumber() === 1
  return isOfAll && isOfThis && shown.length === 0
}

export function FoundSearch({
  source,
  found: { words, taken },
}: {
  readonly source: string
  readonly found: FoundWords
}) {
  return (
    <SearchInput
      text={words}
      source={source}
      interpretation={taken.data}
      isLoading={taken.isLoading}
      onSearch={(q) =>
        setParameters({ q, page: undefined, row: undefined, group: undefined }, { replace: false })
      }
    />
  )
}

/** The foot of a table of one page; the others are a click away. */
export function FoundPages({
  shown,
  total,
  what,
  size = pageSize,
}: {
  readonly shown: number
  /** Undefined until it is known. */
  readonly total: number | undefined
  /** "example" */
  readonly what: string
  readonly size?: number
}) {
  return (
    <Pages
      page={pageNumber()}
      pageSize={size}
      shown={shown}
      total={total}
      what={what}
      onPage={(next) => setParameters(atPage(next), { replace: false })}
      linkOf={(next) => addressWith(atPage(next))}
    />
  )
}

function atPage(page: number) {
  return { page: page === 1 ? undefined : String(page) }
}
