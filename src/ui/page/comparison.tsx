/** Experiments side by side: what each score comes to, and how their examples differ. */
import { useMemo } from 'preact/hooks'
import { number } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { PageTable } from '../component/page-table.tsx'
import { Pages } from '../component/pages.tsx'
import {
  type Compared,
  type ComparisonOrder,
  comparisonOrders,
  countLines,
  type LineCounts,
  linesOfPage,
  type ShownKind,
  scoreChanges,
  shownKinds,
  worstScore,
} from '../service/comparison.ts'
import { type Experiment, experimentsById, totalsOf } from '../service/experiment.ts'
import { useLoaded } from '../service/load.ts'
import { parameter, parts, pathOf, setParameters } from '../state/location.ts'
import { ComparedExperiments } from './compared-experiments.tsx'
import { comparisonColumns } from './comparison-columns.tsx'
import { ComparisonExample } from './comparison-example.tsx'
import { ComparisonSummary } from './comparison-summary.tsx'

/** Lines of a page of the table. */
const pageSize = 100

export interface ComparisonProps {
  readonly base: Experiment
  readonly otherIds: readonly string[]
  readonly comparisonKey: string
}

export function Comparison({ base, otherIds, comparisonKey }: ComparisonProps) {
  const { data, error, reload } = useLoaded(`experiments ${otherIds.join()}`, (signal) =>
    experimentsById(otherIds, signal),
  )
  if (error) return <Failure error={error} retry={reload} />
  if (!data) return <Loading what="the experiments" />
  const others = data.filter(({ id }) => id !== base.id)
  if (others.length === 0) {
    return (
      <Empty title="There is nothing to compare with">
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
  const compared: Compared = { baseId: base.id, otherIds, key: comparisonKey }
  const key = [base.id, ...otherIds, comparisonKey].join()
  const totals = useLoaded(`totals ${key}`, (signal) => totalsOf([base.id, ...otherIds], signal))
  const changes = useLoaded(`changes ${key}`, (signal) => scoreChanges(compared, signal))
  // Without a score in common, lines are matched all the same.
  const score = parameter('by') ?? (changes.data && (worstScore(changes.data) ?? ''))
  const show = shownKinds.find((kind) => kind === parameter('show')) ?? 'all'
  const order = comparisonOrders.find((each) => each === parameter('sort')) ?? 'regressions'
  const page = Math.max(1, Math.floor(Number(parameter('page') ?? 1)) || 1)
  const isReady = score !== undefined
  const counts = useLoaded(isReady ? `counts ${key} ${score}` : undefined, (signal) =>
    countLines(compared, score!, signal),
  )
  const lines = useLoaded(
    isReady ? `lines ${key} ${score} ${show} ${order} ${page}` : undefined,
    (signal) => linesOfPage(compared, { score: score!, show, order, page, pageSize }, signal),
  )
  const experiments = [base, ...others]
  const open = parameter('row')
  const openLine = lines.data?.find(({ id }) => id === open)
  const isNarrow = openLine !== undefined
  const columns = useMemo(
    () => comparisonColumns(base, others, { score: score ?? '', isNarrow }),
    [key, score, isNarrow],
  )
  const error = totals.error ?? changes.error ?? counts.error ?? lines.error
  return (
    <div class="experiment comparison">
      <ComparedExperiments base={base} others={others} />
      {error && <Failure error={error} retry={lines.reload} />}
      {totals.data && changes.data ? (
        <ComparisonSummary
          base={base}
          others={others}
          totals={totals.data}
          changes={changes.data}
          score={score}
        />
      ) : (
        !error && <Loading what="the scores" />
      )}
      {isReady && <ShownLines counts={counts.data} show={show} order={order} score={score} />}
      {!lines.data ? (
        !error && <Loading what="the examples" />
      ) : lines.data.length === 0 ? (
        <Empty title={show === 'all' ? 'No examples' : `No ${show} examples`}>
          <p>Examples are matched by their {comparisonKey}.</p>
        </Empty>
      ) : (
        <div class={isNarrow ? 'beside open' : 'beside'}>
          <PageTable
            label="Examples side by side"
            isTall
            columns={columns}
            rows={lines.data}
            rowId={({ id }) => id}
            openId={open}
            onOpen={({ id }) => setParameters({ row: id })}
            foot={
              <Pages
                page={page}
                pageSize={pageSize}
                shown={lines.data.length}
                total={counts.data?.[show]}
                what="examples"
                onPage={(next) =>
                  setParameters({ page: next === 1 ? undefined : String(next) }, { replace: false })
                }
              />
            }
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
      )}
    </div>
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
      <label>
        First{' '}
        <select
          value={order}
          onChange={(event) => setParameters({ sort: event.currentTarget.value, page: undefined })}
        >
          {comparisonOrders.map((each) => (
            <option key={each} value={each}>
              {orderTitles[each]}
            </option>
          ))}
        </select>
      </label>
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
