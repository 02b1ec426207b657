/** The logs of a project: found by words or queries, newest first, with a row open beside them. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useEscapeKey } from '../component/escape-key.ts'
import { counted } from '../component/format.ts'
import { Histogram } from '../component/histogram.tsx'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { SearchInput } from '../component/search-input.tsx'
import { Split } from '../component/split.tsx'
import { useStepKeys } from '../component/step-keys.ts'
import { Table } from '../component/table.tsx'
import { useLoaded } from '../service/load.ts'
import { soughtBy } from '../service/looked-for.ts'
import { useProject } from '../service/project.ts'
import { type Interpretation, interpret, query, quoted, type Row } from '../service/query.ts'
import {
  clauseOf,
  forTable,
  isOfRecords,
  withClauses,
  withCondition,
} from '../service/query-text.ts'
import { type PagesOfRows, usePages } from '../service/row-pages.ts'
import type { Span } from '../service/time-buckets.ts'
import { addressWith, openBeside, parameter, setParameters } from '../state/location.ts'
import { ColumnChoice } from './column-choice.tsx'
import { Facets, FacetsSwitch } from './facets.tsx'
import { FilterChips } from './filter-chips.tsx'
import { FirstLines } from './first-lines.tsx'
import { LiveSwitch, useArrivals } from './log-arrivals.tsx'
import { OrderChoice, RowsChoice } from './log-choices.tsx'
import {
  type LogColumn,
  logColumns,
  memberOf,
  resultColumns,
  selectedFields,
  sortExpression,
} from './log-columns.tsx'
import { offersIn, useLogFilters } from './log-filters.ts'
import { useLogPicks } from './log-picks.tsx'
import { changeView, type LogView, timeCondition, timeSpan, viewOfUrl } from './log-view.ts'
import { isFullPage, OpenedTrace } from './opened-trace.tsx'
import { useShownColumns } from './shown-columns.ts'
import { TimeChoice } from './time-choice.tsx'
import { ValueFilters } from './value-filters.tsx'
import { ViewMenu } from './view-menu.tsx'
import { useViewSuggestions } from './view-suggestions.ts'

export function Logs({ projectName }: { readonly projectName: string }) {
  const project = useProject(projectName)
  if (project.error) return <Failure error={project.error} retry={project.reload} />
  if (!project.data) return <Loading what={projectName} />
  const { id, name } = project.data
  return <Records projectId={id} projectName={name} />
}

function Records({
  projectId,
  projectName,
}: {
  readonly projectId: string
  readonly projectName: string
}) {
  const source = `project_logs('${projectId}')`
  const view = viewOfUrl()
  const { text, rowsAre, time } = view
  const shaped = rowsAre === 'traces' ? `${source} summary` : source
  const taken = useInterpretation(text, shaped, view.order)
  const found = taken.data?.query
  const narrowed = useMemo(
    () => found && withCondition(found, timeCondition(time)),
    [found, JSON.stringify(time)],
  )
  const isRecords = found !== undefined && isOfRecords(found)
  const idOf = idField(narrowed, rowsAre)
  const sought = useMemo(() => soughtBy(taken.data), [found])
  const shown = sorted(narrowed, view, isRecords)
  const fields = selectedFields(view.columns)
  const pages = usePages(shown, fields)
  const { rows, total, error, isLoading, look, reload } = pages
  const sample = useSample(pages)
  const available = useMemo(
    () =>
      isRecords
        ? logColumns(sample, view.columns ?? [], { rowsAre, sought, onTag: findTag })
        : resultColumns(sample),
    [sample, view.columns?.join(), rowsAre, isRecords, sought],
  )
  const columns = useShownColumns(available, view, isRecords)
  const arrivals = useArrivals(shown, pages, idOf, view)
  const open = parameter('trace')
  const openId = idOf === 'root_span_id' ? open : parameter('span')
  const picks = useLogPicks({
    ...{ projectId, projectName, pages, idOf, fields },
    shown: isRecords ? shown : undefined,
    isOpen: open !== undefined,
  })
  const [revealed, setRevealed] = useState<number>()
  const opening = (row: Row) => ({
    trace: String(row.root_span_id),
    span: String(row.span_id ?? ''),
    with: undefined,
    pair: undefined,
  })
  const step = (from: string, by: number) => {
    const here = pages.indexOf((row) => row[idOf] === from)
    const next = rows.at(Math.max(0, here + by))
    if (here < 0 || next === undefined) return undefined
    setRevealed(here + by)
    setParameters(opening(next))
    return String(next[idOf])
  }
  useStepKeys(open === undefined ? undefined : openId, step)
  const close = () => setParameters(nothingOpen)
  useEscapeKey(open !== undefined, close)
  /** What was changed in the open trace is shown in its row, too. */
  const showChange = async () => {
    arrivals.refresh()
    if (shown === undefined || openId === undefined) return
    const one = withCondition(shown, `${idOf} = ${quoted(openId)}`)
    const { data } = await query(withClauses(forTable(one, fields), { limit: '1' }))
    if (pages.indexOf((row) => row[idOf] === openId) >= 0) pages.take(data, idOf)
  }
  const search = (next: string) => changeView({ text: next }, { replace: false })
  const filters = useLogFilters({ taken: taken.data, narrowed, shaped }, search)
  const offersAt = (target: Element) =>
    offersIn(target, { rows, columns: columns.list, rowsAre, isRecords })
  const viewSuggestions = useViewSuggestions(projectId)
  const failure = taken.error ?? error
  const isEmpty = rows.length === 0 && !isLoading && !taken.isLoading && !failure
  const span = timeSpan(time)
  const rowUnit = rowsAre.slice(0, -1)
  // How much it has to say of a search is not known before: what is below would be pushed away.
  const isReading = useFirstReading(view, taken.data === undefined && taken.error === undefined)
  return (
    <div class={classOf(open)}>
      <header class="page-head">
        <h1>Logs</h1>
        <div class="tools">
          <LiveSwitch arrivals={arrivals} />
          <RowsChoice rowsAre={rowsAre} />
          <TimeChoice time={time} />
          <FacetsSwitch />
          {mayBeOfRecords(found) && <ColumnChoice available={available} shown={columns} />}
          <ViewMenu projectId={projectId} />
          <button type="button" onClick={reload}>
            Refresh
          </button>
        </div>
      </header>
      <SearchInput
        text={text}
        source={shaped}
        interpretation={taken.data}
        isLoading={taken.isLoading}
        onSearch={search}
        beside={sought.some((each) => 'words' in each) && <OrderChoice order={view.order} />}
        {...viewSuggestions}
      />
      {text !== '' && <FilterChips source={shaped} interpretation={taken.data} onSearch={search} />}
      {failure && <Failure error={failure} retry={taken.error ? taken.reload : reload} />}
      {!isReading && (
        <>
          {(narrowed === undefined ? !failure : isRecords) && (
            <Histogram
              query={narrowed}
              unit={rowUnit}
              span={span}
              round={arrivals.round}
              onSpan={(next) => changeView({ time: next && rangeOf(next) }, { replace: false })}
            />
          )}
          <ValueFilters offersAt={offersAt} onTerm={filters.add} />
          <Split
            isOpen={open !== undefined}
            isWide={isFull(open)}
            side={
              mayBeOfRecords(found) && (
                <Facets
                  query={filters.query}
                  terms={filters.terms}
                  rowsAre={rowsAre}
                  metadata={metadataNames(available)}
                  round={arrivals.round}
                  onTerms={filters.replace}
                />
              )
            }
            first={
              isEmpty ? (
                <Nothing view={view} projectName={projectName} interpretation={taken.data} />
              ) : (
                <Table
                  label="Logs"
                  columns={columns.list}
                  rows={rows}
                  rowId={(row) => (isRecords ? String(row[idOf]) : JSON.stringify(row))}
                  openId={openId}
                  onOpen={isRecords ? (row) => openBeside(opening(row)) : undefined}
                  linkOf={isRecords ? (row) => addressWith(opening(row)) : undefined}
                  revealed={revealed}
                  selection={picks.selection}
                  newIds={arrivals.newIds}
                  onSight={(first, last) => {
                    look(first, last)
                    arrivals.look(first)
                  }}
                  sort={view.sort}
                  onSort={(id) => changeView({ sort: nextSort(view, id) })}
                  onResize={columns.resize}
                  onMove={isRecords ? columns.move : undefined}
                  foot={
                    <RowCount
                      rows={rows.length}
                      total={total}
                      isLoading={isLoading}
                      what={isRecords ? rowUnit : 'row'}
                    />
                  }
                />
              )
            }
            second={
              open !== undefined && (
                <OpenedTrace
                  source={source}
                  rootSpanId={open}
                  sought={sought}
                  onStep={(by) => openId !== undefined && step(openId, by)}
                  onChange={() => void showChange()}
                  onClose={close}
                />
              )
            }
          />
        </>
      )}
      {picks.bar}
    </div>
  )
}

function RowCount(props: {
  readonly rows: number
  readonly total: number | undefined
  readonly isLoading: boolean
  readonly what: string
}) {
  const { rows, total, isLoading, what } = props
  return (
    <p class="hint" role="status">
      {isLoading && rows === 0 ? 'Loading…' : counted(rows, what)}
      {total === undefined && rows > 0 && ' or more'}
    </p>
  )
}

/** Whether it is not known yet what the first search was taken for: below a later one, what is there stays. */
function useFirstReading({ text }: LogView, isUnknown: boolean): boolean {
  const wasRead = useRef(false)
  wasRead.current ||= !isUnknown
  return text !== '' && !wasRead.current && parameter('trace') === undefined
}

/** No words are every record; nothing is asked for that. */
function useInterpretation(text: string, source: string, order: LogView['order']) {
  const loaded = useLoaded<Interpretation>(`${order} ${source} ${text}`, async (signal) => {
    if (text.trim() !== '') return interpret(text, source, signal, order)
    const query = `select: *\nfrom: ${source}`
    return { kind: 'btql', query, filter: null, explanation: 'everything' }
  })
  // What came last stays while the next is on its way, but is not what is now looked for.
  return loaded.isLoading ? { ...loaded, data: undefined } : loaded
}

/** Whether the open trace has the whole page. */
function isFull(open: string | undefined): boolean {
  return open !== undefined && isFullPage()
}

const nothingOpen = {
  ...{ trace: undefined, span: undefined, find: undefined },
  ...{ with: undefined, pair: undefined },
}

function classOf(open: string | undefined): string {
  return isFull(open) ? 'logs full' : 'logs'
}

/** Until it is known what is found, too: what is for records has its place from the start. */
function mayBeOfRecords(found: string | undefined): boolean {
  return found === undefined || isOfRecords(found)
}

function metadataNames(columns: readonly LogColumn[]): readonly string[] {
  return columns.flatMap(({ id }) => {
    const member = memberOf(id)
    return member?.root === 'metadata' ? [member.name] : []
  })
}

/** Rows of a search may be of another shape than those of the table: words may ask for traces. */
function idField(query: string | undefined, rowsAre: LogView['rowsAre']): string {
  if (query === undefined) return rowsAre === 'traces' ? 'root_span_id' : 'span_id'
  return /\)\s*summary$/.test(clauseOf(query, 'from') ?? '') ? 'root_span_id' : 'span_id'
}

/** Narrows the search to what has a tag. */
function findTag(tag: string): void {
  const { text } = viewOfUrl()
  const word = /\s/.test(tag) ? `+"${tag}"` : `+${tag}`
  if (!text.split(/\s+/).includes(word)) {
    changeView({ text: `${text} ${word}`.trim() }, { replace: false })
  }
}

/** Descending, ascending, and as the search has it. */
function nextSort({ sort }: LogView, column: string): LogView['sort'] {
  if (sort?.column !== column) return { column, isDescending: true }
  return sort.isDescending ? { column, isDescending: false } : undefined
}

/** What the head of the table sorts by goes before what the search asks for. */
function sorted(
  query: string | undefined,
  { sort, rowsAre }: LogView,
  isRecords: boolean,
): string | undefined {
  if (query === undefined || !sort || !isRecords) return query
  const by = sortExpression(sort.column, rowsAre)
  return by === undefined
    ? query
    : withClauses(query, { sort: `${by} ${sort.isDescending ? 'desc' : 'asc'}` })
}

/** The rows that tell what columns there are: the first, once they are there. */
function useSample({ rows }: PagesOfRows): readonly Row[] {
  const [sample, setSample] = useState<readonly Row[]>([])
  const isThere = rows.length > 0
  useEffect(() => {
    const first: Row[] = []
    for (let i = 0; i < Math.min(rows.length, 100); i++) {
      const row = rows.at(i)
      if (row) first.push(row)
    }
    setSample(first)
  }, [isThere])
  return sample
}

function rangeOf({ from, to }: Span): LogView['time'] {
  const time = (seconds: number) => new Date(seconds * 1000).toISOString()
  return { kind: 'between', from: time(from), to: time(to) }
}

/** Nothing was found: what to do about it. */
function Nothing({
  view: { text, time },
  projectName,
  interpretation,
}: {
  readonly view: LogView
  readonly projectName: string
  readonly interpretation: Interpretation | undefined
}) {
  if (text === '' && !time) return <FirstLines projectName={projectName} />
  return (
    <Empty sketch="rows" title="Nothing found">
      {interpretation && text !== '' && (
        <p>
          Searched for:{' '}
          {interpretation.kind === 'btql' ? <code>{text}</code> : interpretation.explanation}
        </p>
      )}
      <p class="tools">
        {time && (
          <button type="button" onClick={() => changeView({ time: undefined })}>
            Search all times
          </button>
        )}
        {text !== '' && (
          <button type="button" onClick={() => changeView({ text: '' }, { replace: false })}>
            Show everything
          </button>
        )}
      </p>
    </Empty>
  )
}
