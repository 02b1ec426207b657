/** One example in full, as each of the compared experiments has it. */
import { preview } from '../component/format.ts'
import { Icon } from '../component/icon.tsx'
import { JsonView } from '../component/json-view.tsx'
import { Link } from '../component/link.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { comparableText, TextDifference } from '../component/text-difference.tsx'
import type { Line } from '../service/comparison.ts'
import type { Experiment } from '../service/experiment.ts'
import { exampleOf } from '../service/experiment-rows.ts'
import { useLoaded } from '../service/load.ts'
import type { Row } from '../service/query.ts'
import { parts, pathOf } from '../state/location.ts'
import { SideScores, SideUsage } from './comparison-columns.tsx'
import { fieldTitle } from './span-metrics.tsx'

export interface ComparisonExampleProps {
  readonly line: Line
  /** The base first. */
  readonly experiments: readonly Experiment[]
  readonly onClose: () => void
}

export function ComparisonExample({ line, experiments, onClose }: ComparisonExampleProps) {
  const key = experiments.map(({ id }) => `${id} ${line.sides.get(id)?.id}`).join()
  const { data, error, reload } = useLoaded(`sides ${key}`, (signal) =>
    Promise.all(
      experiments.map(({ id }) => {
        const side = line.sides.get(id)
        return side ? exampleOf(id, side.id, signal) : undefined
      }),
    ),
  )
  const first = data?.find((row) => row !== undefined)
  return (
    <section class="trace example" aria-label="Example">
      <header class="page-head">
        <h2>{preview(line.input, 80) || 'Example'}</h2>
        <button type="button" onClick={onClose} aria-label="Close the example">
          <Icon name="close" />
        </button>
      </header>
      {error && <Failure error={error} retry={reload} />}
      {!data ? (
        <Loading what="the example" />
      ) : (
        <div class="span">
          <Shared row={first} field="input" />
          <Shared row={first} field="expected" />
          {experiments.map((experiment, index) => (
            <OneSide
              key={experiment.id}
              experiment={experiment}
              row={data[index]}
              before={index === 0 ? undefined : data[0]}
              line={line}
              baseId={experiments[0]!.id}
            />
          ))}
        </div>
      )}
    </section>
  )
}

function Shared({ row, field }: { readonly row: Row | undefined; readonly field: string }) {
  const value = row?.[field]
  if (value === null || value === undefined) return null
  return (
    <section>
      <h3>{fieldTitle(field)}</h3>
      <JsonView value={value} label={field} />
    </section>
  )
}

function OneSide({
  experiment,
  row,
  before,
  line,
  baseId,
}: {
  readonly experiment: Experiment
  readonly row: Row | undefined
  readonly before: Row | undefined
  readonly line: Line
  readonly baseId: string
}) {
  const { id, name } = experiment
  const side = line.sides.get(id)
  const isBase = id === baseId
  const page = pathOf(...parts.value.slice(0, 5), name)
  return (
    <section aria-label={name}>
      <h3>
        {name}
        {isBase ? ' (base)' : ''}
        {side && (
          <>
            {' · '}
            <Link to={`${page}?row=${encodeURIComponent(side.id)}&view=trace`}>trace</Link>
          </>
        )}
      </h3>
      {!row || !side ? (
        <p class="hint">It has no such example.</p>
      ) : (
        <>
          <SideScores side={side} before={isBase ? undefined : line.sides.get(baseId)} score="" />
          <SideUsage side={side} />
          <Answer row={row} before={before} />
        </>
      )}
    </section>
  )
}

function Answer({ row, before }: { readonly row: Row; readonly before: Row | undefined }) {
  const value = row.error ?? row.output
  const text = comparableText(value)
  const old = before && comparableText(before.error ?? before.output)
  if (old === undefined) return <JsonView value={value} label="output" />
  if (old === text) return <p class="hint">The same output as the base</p>
  return (
    <div class="json">
      <TextDifference before={old} after={text} />
    </div>
  )
}
