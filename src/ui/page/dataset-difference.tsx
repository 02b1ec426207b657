/** What was added, removed and changed between two versions of a dataset. */
import { counted, number, preview } from '../component/format.ts'
import { JsonView } from '../component/json-view.tsx'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { comparableText, TextDifference } from '../component/text-difference.tsx'
import { recordFields } from '../service/dataset.ts'
import {
  type DifferenceKind,
  differencesOf,
  mostTouched,
  type RecordDifference,
  type Touched,
  touchedBetween,
} from '../service/dataset-version.ts'
import { useLoaded } from '../service/load.ts'
import { parameter, setParameters } from '../state/location.ts'
import { FoundPages, pageNumber } from './found-rows.tsx'
import { fieldTitle } from './span-metrics.tsx'

/** Records of a page: each is shown whole, and twice. */
const shownDifferences = 50

const kinds: readonly DifferenceKind[] = ['added', 'changed', 'removed']
const titles = { added: 'Added', changed: 'Changed', removed: 'Removed' } as const

export interface DatasetDifferenceProps {
  readonly datasetId: string
  /** Both are `_xact_id`s. */
  readonly from: string
  readonly to: string
}

export function DatasetDifference({ datasetId, from, to }: DatasetDifferenceProps) {
  const touched = useLoaded(`touched ${datasetId} ${from} ${to}`, (signal) =>
    touchedBetween(datasetId, from, to, signal),
  )
  if (touched.error) return <Failure error={touched.error} retry={touched.reload} />
  // Between other versions, other records were written.
  if (!touched.data || touched.isLoading) return <Loading what="what changed" />
  if (touched.data.length === 0) {
    return (
      <Empty sketch="records" title="Nothing changed">
        <p>Both versions have the same records.</p>
      </Empty>
    )
  }
  return <Differences datasetId={datasetId} from={from} to={to} touched={touched.data} />
}

function Differences({
  datasetId,
  from,
  to,
  touched,
}: DatasetDifferenceProps & { readonly touched: readonly Touched[] }) {
  const kind = kinds.find((each) => each === parameter('kind'))
  const page = pageNumber()
  const wanted = kind === undefined ? touched : touched.filter((each) => each.kind === kind)
  const shown = wanted.slice((page - 1) * shownDifferences, page * shownDifferences)
  const differences = useLoaded(
    `differences ${datasetId} ${from} ${to} ${kind} ${page}`,
    (signal) => differencesOf(datasetId, shown, { from, to }, signal),
  )
  const choose = (next: DifferenceKind | undefined) =>
    setParameters({ kind: next, page: undefined })
  return (
    <>
      <fieldset class="choices">
        <legend>Records</legend>
        <button type="button" aria-pressed={kind === undefined} onClick={() => choose(undefined)}>
          All <span class="hint">{number(touched.length)}</span>
        </button>
        {kinds.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={kind === each}
            onClick={() => choose(each)}
          >
            {titles[each]}{' '}
            <span class="hint">
              {number(touched.filter((record) => record.kind === each).length)}
            </span>
          </button>
        ))}
      </fieldset>
      {touched.length === mostTouched && (
        <p class="notice">
          More than {counted(mostTouched, 'record')} were written in between: these are the last
          ones. Choose versions that lie closer together to see the others.
        </p>
      )}
      {differences.error && <Failure error={differences.error} retry={differences.reload} />}
      {!differences.data ? (
        <Loading what="what changed" />
      ) : (
        <ul class="differences">
          {differences.data.map((each) => (
            <Difference key={each.id} difference={each} />
          ))}
        </ul>
      )}
      {differences.data && !differences.isLoading && differences.data.length < shown.length && (
        <p class="hint">
          {counted(shown.length - differences.data.length, 'record')} of this page were written
          again as they were.
        </p>
      )}
      <FoundPages
        size={shownDifferences}
        shown={shown.length}
        total={wanted.length}
        what="record"
      />
    </>
  )
}

function Difference({ difference }: { readonly difference: RecordDifference }) {
  const { id, kind, before, after } = difference
  const row = after ?? before
  const changed = recordFields.filter((field) => {
    return JSON.stringify(before?.[field] ?? null) !== JSON.stringify(after?.[field] ?? null)
  })
  return (
    <li class={`record-difference ${kind}`}>
      <h3>
        <span class={`kind ${kind}`}>{titles[kind]}</span> <code>{id}</code>{' '}
        <span class="hint">{preview(row?.input, 120)}</span>
      </h3>
      {changed.map((field) => (
        <section key={field} aria-label={field}>
          <h4>{fieldTitle(field)}</h4>
          {kind === 'changed' ? (
            <TextDifference
              before={comparableText(before?.[field])}
              after={comparableText(after?.[field])}
            />
          ) : (
            <JsonView value={row?.[field]} label={field} />
          )}
        </section>
      ))}
    </li>
  )
}
