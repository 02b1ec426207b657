/** Experiments side by side: what each score comes to, and how their examples differ. */

import { useMemo, useRef } from 'preact/hooks'
import { number } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { PageTable } from '../component/page-table.tsx'
import { Select } from '../component/select.tsx'
import {
  type Compared,
  type ComparisonOrder,
  comparisonOrders,
  countsOf,
  type Line,
  type LineCounts,
  linesOfPage,
  mostSought,
  type ShownKind,
  type Sought,
  scoreNames,
  shownKinds,
  soughtIn,
  worstScore,
} from '../service/comparison.ts'
import { type Experiment, scoreMeansOf, totalsOf } from '../service/experiment.ts'
import { type Loaded, useLoaded } from '../service/load.ts'
import { quoted, type Row } from '../service/query.ts'
import { clauseOf } from '../service/query-text.ts'
import {
  addressWith,
  openBeside,
  parameter,
  parts,
  pathOf,
  setParameters,
} from '../state/location.ts'
import { ComparedExperiments } from './compared-experiments.tsx'
import { comparisonColumns } from './comparison-columns.tsx'
import { ComparisonExample } from './comparison-example.tsx'
import { ComparisonSummary } from './comparison-summary.tsx'
import { plainColumns } from './example-columns.tsx'
import { FoundPages, FoundSearch, pageNumber, useFoundPage, useFoundWords } from './found-rows.tsx'

export interface ComparisonProps {
  readonly base: Experiment
  readonly others: Loaded<readonly Experiment[]>
  readonly comparisonKey: string
}

/** More examples than a screen has room for, each of several lines. */
const linesPerPage = 50

export function Comparison({ base, others: loaded, comparisonKey }: ComparisonProps) {
  const { data, error, reload } = loaded
  if (error) return <Failure error={error} retry={reload} />
  if (!data) return <Loading what="the experiments" />
  const others = data.filter(({ id }) => id !== base.id)
  if (others.length === 0) {
    return (
      <Empty sketch="experiments" title="There is nothing to compare with">
        <p>The other experiments were deleted, or are not for you to see.</p>
        <p>
          <Link to={pathOf(...parts.value)}>Look at {base.name} alone</Link>
        </p>
      </Empty>
    )
  }
  return <Lines base={base} others={others} comparisonKey={comparisonKey} />
}

function Lines({
  base,
  others,
  comparisonKey,
}: {
  readonly base: Experiment
  readonly others: readonly Experiment[]
  readonly comparisonKey: string
}) {
  const otherIds = others.map(({ id }) => id)
  const ids = [base.id, ...otherIds]
  const source = `experiment(${ids.map(quoted).join(', ')}) summary`
  const found = useFoundWords(source)
  const { words, text, isOfSource } = found
  const sought = useLoaded(
    words === '' || text === undefined || !isOfSource ? undefined : `sought ${text}`,
    async (signal) => ({ text, ids: await soughtIn(text!, signal) }),
  )
  // What was found for earlier words is not for these.
  const isFound = words === '' || sought.data?.text === text
  const compared: Compared = {
    baseId: base.id,
    otherIds,
    key: comparisonKey,
    sought: words === '' ? undefined : sought.data?.ids,
  }
  const key = [...ids, comparisonKey, words === '' ? '' : text].join('\n')
  // Lines wait for no more than what chooses the score that they are ordered by.
  const means = useLoaded(`means ${ids}`, (signal) => scoreMeansOf(ids, signal))
  // Without a score in common, lines are matched all the same.
  const score = parameter('by') ?? (means.data && (worstScore(base.id, means.data) ?? ''))
  const show = shownKinds.find((kind) => kind === parameter('show')) ?? 'all'
  const order = comparisonOrders.find((each) => each === parameter('sort')) ?? 'regressions'
  const page = pageNumber()
  const isReady = score !== undefined && isFound && isOfSource
  const lines = useLoaded(
    isReady ? `lines ${key} ${score} ${show} ${order} ${page}` : undefined,
    (signal) =>
      linesOfPage(compared, { score: score!, show, order, page, pageSize: linesPerPage }, signal),
  )
  // What is read first comes first: totals and counts would take half of the processors from it.
  const areLinesRead = !isReady || lines.data !== undefined || lines.error !== undefined
  const wereLinesRead = useRef(false)
  wereLinesRead.current ||= means.data !== undefined && areLinesRead
  const totals = useLoaded(wereLinesRead.current ? `totals ${ids}` : undefined, (signal) =>
    totalsOf(ids, signal),
  )
  const isCounted = isReady && lines.data !== undefined && totals.data !== undefined
  const counts = useLoaded(isCounted ? `counts ${key} ${score}` : undefined, (signal) =>
    countsOf(compared, score!, scoreNames(means.data!), signal),
  )
  const experiments = [base, ...others]
  const open = parameter('row')
  const openLine = lines.data?.find(({ id }) => id === open)
  const isNarrow = openLine !== undefined
  const columns = useMemo(
    () => comparisonColumns(base, others, { score: score ?? '', isNarrow }),
    [key, score, isNarrow],
  )
  const otherText = isOfSource ? undefined : text
  const shownLines = otherText === undefined ? linesOf(lines) : undefined
  const isWaiting = otherText === undefined && !shownLines
  const failed = [means, found.taken, sought, lines, totals, counts].find((each) => each.error)
  return (
    <div class="experiment comparison">
      <ComparedExperiments base={base} others={others} />
      {failed && <Failure error={failed.error!} retry={failed.reload} />}
      {means.data && (
        <ComparisonSummary
          base={base}
          others={others}
          means={means.data}
          totals={totals.data}
          counts={counts.data}
          hasFailed={failed !== undefined}
          score={score}
        />
      )}
      {!means.data && !failed && (
        <div class="summary-wait">
          <Loading what="the scores" />
        </div>
      )}
      <FoundSearch source={source} found={found} />
      {words !== '' && sought.data && (
        <SoughtNotes text={sought.data.text} sought={sought.data.ids} />
      )}
      {score !== undefined && isOfSource && (
        <ShownLines counts={counts.data?.lines} show={show} order={order} score={score} />
      )}
      {otherText !== undefined && <OtherRows text={otherText} />}
      {isWaiting && !failed && <Loading what="the examples" />}
      {shownLines?.length === 0 && (
        <NoLines show={show} isSearched={words !== ''} comparisonKey={comparisonKey} />
      )}
      {shownLines && shownLines.length > 0 && (
        <LinesTable
          lines={shownLines}
          openLine={openLine}
          columns={columns}
          total={counts.data?.lines[show]}
          experiments={experiments}
        />
      )}
    </div>
  )
}

/** What came last stays while others are on their way; that there was none says nothing of these. */
function linesOf({ data, isLoading }: Loaded<readonly Line[]>): readonly Line[] | undefined {
  return isLoading && data?.length === 0 ? undefined : data
}

function LinesTable(props: {
  readonly lines: readonly Line[]
  readonly openLine: Line | undefined
  readonly columns: ReturnType<typeof comparisonColumns>
  readonly total: number | undefined
  readonly experiments: readonly Experiment[]
}) {
  const { lines, openLine, columns, total, experiments } = props
  return (
    <div class={openLine ? 'beside open' : 'beside'}>
      <PageTable
        label="Examples side by side"
        isTall
        columns={columns}
        rows={lines}
        rowId={({ id }) => id}
        openId={parameter('row')}
        onOpen={({ id }) => openBeside({ row: id })}
        onStep={({ id }) => setParameters({ row: id })}
        linkOf={({ id }) => addressWith({ row: id })}
        foot={<FoundPages shown={lines.length} total={total} what="example" size={linesPerPage} />}
      />
      {openLine && (
        <ComparisonExample
          key={openLine.id}
          line={openLine}
          experiments={experiments}
          onClose={() => setParameters({ row: undefined })}
        />
      )}
    </div>
  )
}

function NoLines(props: {
  readonly show: ShownKind
  readonly isSearched: boolean
  readonly comparisonKey: string
}) {
  const { show, isSearched, comparisonKey } = props
  return (
    <Empty sketch="experiments" title={show === 'all' ? 'No examples' : `No ${show} examples`}>
      {isSearched ? (
        <button type="button" onClick={() => setParameters({ q: undefined })}>
          Leave the search
        </button>
      ) : (
        <p>Examples are matched by their {comparisonKey}.</p>
      )}
    </Empty>
  )
}

/** What of a search the table cannot follow is said, not left out in silence. */
function SoughtNotes({
  text,
  sought,
}: {
  readonly text: string | undefined
  readonly sought: Sought
}) {
  const count = [...sought.values()].reduce((sum, ids) => sum + ids.length, 0)
  const isSorted = text !== undefined && clauseOf(text, 'sort') !== undefined
  const notes = [
    'Better, worse and the spread are of the examples that were found, means of all.',
    ...(count >= mostSought ? [`Only the first ${number(count)} that it finds are compared.`] : []),
    ...(isSorted ? ['The order is the one that is chosen below.'] : []),
  ]
  return <p class="hint">{notes.join(' ')}</p>
}

/** A search that asks for groups, or whatever else is no list of examples. */
function OtherRows({ text }: { readonly text: string }) {
  const { data, error, reload, shown } = useFoundPage(text)
  if (error) return <Failure error={error} retry={reload} />
  if (!data) return <Loading what="rows" />
  return (
    <PageTable
      label="Rows"
      columns={plainColumns(shown)}
      rows={shown}
      rowId={(row: Row) => JSON.stringify(row)}
      foot={<FoundPages shown={shown.length} total={data.total ?? shown.length} what="row" />}
    />
  )
}

const kindTitles: Readonly<Record<ShownKind, string>> = {
  all: 'All',
  regressed: 'Regressed',
  improved: 'Improved',
  unchanged: 'Unchanged',
  unmatched: 'Unmatched',
}

const orderTitles: Readonly<Record<ComparisonOrder, string>> = {
  regressions: 'Largest regressions',
  improvements: 'Largest improvements',
  newest: 'Newest',
}

/** Which lines are shown, and which first. */
function ShownLines({
  counts,
  show,
  order,
  score,
}: {
  readonly counts: LineCounts | undefined
  readonly show: ShownKind
  readonly order: ComparisonOrder
  readonly score: string
}) {
  return (
    <div class="tools">
      <fieldset class="choices">
        <legend>{score === '' ? 'Examples' : `By ${score}`}</legend>
        {shownKinds.map((kind) => (
          <button
            key={kind}
            type="button"
            aria-pressed={kind === show}
            onClick={() =>
              setParameters({
                show: kind === 'all' ? undefined : kind,
                page: undefined,
                row: undefined,
              })
            }
          >
            {kindTitles[kind]} {counts && <span class="hint">{number(counts[kind])}</span>}
          </button>
        ))}
      </fieldset>
      <span>
        Sort by{' '}
        <Select
          label="Sort by"
          value={order}
          options={comparisonOrders.map((each) => ({ value: each, label: orderTitles[each] }))}
          onChange={(sort) => setParameters({ sort, page: undefined })}
        />
      </span>
      <label>
        <input
          type="checkbox"
          checked={parameter('words') !== 'whole'}
          onChange={(event) =>
            setParameters({ words: event.currentTarget.checked ? undefined : 'whole' })
          }
        />{' '}
        Mark words that differ
      </label>
    </div>
  )
}
