/** The logs of a project: found by words or queries, newest first, with a row open beside them. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Histogram } from '../component/histogram.tsx'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { SearchInput } from '../component/search-input.tsx'
import { type Column, Table } from '../component/table.tsx'
import { useProject } from '../service/project.ts'
import { type Row, type SearchPage, search } from '../service/query.ts'
import { parameter, setParameters } from '../state/location.ts'
import { ColumnChoice } from './column-choice.tsx'
import { FirstLines } from './first-lines.tsx'
import { isShownAtFirst, logColumns } from './log-columns.tsx'
import { Trace } from './trace.tsx'

export function Logs({ projectName }: { readonly projectName: string }) {
  const project = useProject(projectName)
  if (project.error) return <Failure error={project.error} retry={project.reload} />
  if (!project.data) return <Loading what={projectName} />
  const { id, name } = project.data
  return <Records source={`project_logs('${id}')`} projectName={name} />
}

/** Everything about the view is in the URL: words, kind of rows, columns, the open trace. */
function Records({
  source,
  projectName,
}: {
  readonly source: string
  readonly projectName: string
}) {
  const text = parameter('q') ?? ''
  const rowsAre = parameter('rows') === 'spans' ? 'spans' : 'traces'
  const open = parameter('trace')
  const shaped = rowsAre === 'traces' ? `${source} summary` : source
  const found = usePages(text, shaped)
  const { rows, first, error, isLoading, isWhole, more, reload } = found
  const available = useMemo(() => logColumns(rows), [rows.length > 0, first])
  const columns = useColumns(available)
  return (
    <div class="logs">
      <header class="page-head">
        <h1>Logs</h1>
        <div class="tools">
          <label>
            Rows{' '}
            <select
              value={rowsAre}
              onChange={(event) =>
                setParameters({ rows: event.currentTarget.value, trace: undefined })
              }
            >
              <option value="traces">Traces</option>
              <option value="spans">Spans</option>
            </select>
          </label>
          <ColumnChoice available={available} shown={columns} />
          <button type="button" onClick={reload}>
            Refresh
          </button>
        </div>
      </header>
      <SearchInput
        text={text}
        source={shaped}
        interpretation={first}
        onSearch={(next) => setParameters({ q: next, trace: undefined }, { replace: false })}
      />
      {error && <Failure error={error} retry={reload} />}
      <Histogram
        source={source}
        filter={first?.filter ?? null}
        onRange={(from, to) =>
          setParameters({ q: withTimes(text, first?.filter ?? null, from, to) })
        }
      />
      <div class={open === undefined ? 'beside' : 'beside open'}>
        {rows.length === 0 && !isLoading && !error ? (
          text === '' ? (
            <FirstLines projectName={projectName} />
          ) : (
            <Empty title="Nothing found">
              <p>{first?.explanation}</p>
            </Empty>
          )
        ) : (
          <Table
            label="Logs"
            columns={columns.list}
            rows={rows}
            rowId={(row) => String(rowsAre === 'traces' ? row.root_span_id : row.span_id)}
            openId={rowsAre === 'traces' ? open : parameter('span')}
            onOpen={(row) =>
              setParameters({ trace: String(row.root_span_id), span: String(row.span_id ?? '') })
            }
            onEnd={more}
            onResize={columns.resize}
            foot={
              <p class="hint" role="status">
                {isLoading
                  ? 'Loading…'
                  : `${rows.length.toLocaleString()} ${rowsAre}${isWhole ? '' : ', more below'}`}
              </p>
            }
          />
        )}
        {open !== undefined && (
          <Trace
            source={source}
            rootSpanId={open}
            onClose={() => setParameters({ trace: undefined, span: undefined })}
          />
        )}
      </div>
    </div>
  )
}

/** Adds a range of time to what is searched for, as a query that anybody can read and change. */
function withTimes(text: string, filter: string | null, from: string, to: string): string {
  const times = `created >= '${from}' and created < '${to}'`
  if (text.trim() === '' || filter === null) return times
  return `${/\bor\b/i.test(filter) ? `(${filter})` : filter} and ${times}`
}

function usePages(text: string, source: string) {
  const [pages, setPages] = useState<readonly SearchPage[]>([])
  const [error, setError] = useState<Error>()
  const [isLoading, setLoading] = useState(true)
  const [round, setRound] = useState(0)
  const abandon = useRef(new AbortController())
  const load = async (before: readonly SearchPage[], cursor: string | undefined) => {
    const { signal } = abandon.current
    setLoading(true)
    try {
      const page = await search({ text: text === '' ? 'select: *' : text, source, cursor, signal })
      if (!signal.aborted) {
        setPages([...before, page])
        setError(undefined)
      }
    } catch (thrown) {
      if (!signal.aborted) setError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    } finally {
      if (!signal.aborted) setLoading(false)
    }
  }
  useEffect(() => {
    abandon.current = new AbortController()
    setPages([])
    void load([], undefined)
    return () => abandon.current.abort()
  }, [text, source, round])
  const rows = useMemo(() => pages.flatMap(({ data }) => data), [pages])
  const cursor = pages.at(-1)?.cursor
  return {
    rows,
    first: pages[0],
    error,
    isLoading,
    isWhole: !isLoading && cursor === undefined,
    more: () => {
      if (!isLoading && cursor !== undefined && !error) void load(pages, cursor)
    },
    reload: () => setRound((count) => count + 1),
  }
}

export interface ShownColumns {
  readonly list: readonly Column<Row>[]
  readonly ids: ReadonlySet<string>
  resize(id: string, width: number): void
  choose(id: string, isShown: boolean): void
}

/** Which columns are shown and how wide is in the URL once it differs from what is usual. */
function useColumns(available: readonly Column<Row>[]): ShownColumns {
  const chosen = parameter('columns')
  const widths = new Map(
    (parameter('widths') ?? '').split(',').flatMap((part): [string, number][] => {
      const at = part.lastIndexOf(':')
      return at < 0 ? [] : [[part.slice(0, at), Number(part.slice(at + 1))]]
    }),
  )
  const ids = new Set(
    chosen === undefined ? available.filter(isShownAtFirst).map(({ id }) => id) : chosen.split(','),
  )
  return {
    ids,
    list: available
      .filter(({ id }) => ids.has(id))
      .map((column) => ({ ...column, width: widths.get(column.id) || column.width })),
    resize: (id, width) => {
      widths.set(id, width)
      setParameters({ widths: [...widths].map((pair) => pair.join(':')).join(',') })
    },
    choose: (id, isShown) => {
      if (isShown) ids.add(id)
      else ids.delete(id)
      setParameters({ columns: [...ids].join(',') })
    },
  }
}
