/** The columns of a comparison: the example, then what each experiment made of it. */
import { cost, counted, duration, preview, score as shownScore } from '../component/format.ts'
import type { PageColumn } from '../component/page-table.tsx'
import { TextDifference } from '../component/text-difference.tsx'
import type { Line, Side } from '../service/comparison.ts'
import type { Experiment } from '../service/experiment.ts'
import { parameter } from '../state/location.ts'
import { Change } from './experiment-columns.tsx'

export interface ComparisonColumnOptions {
  /** What lines are chosen by: it stands before the others. */
  readonly score: string
  /** An example is open beside the table, and shows the outputs. */
  readonly isNarrow: boolean
}

export function comparisonColumns(
  base: Experiment,
  others: readonly Experiment[],
  { score, isNarrow }: ComparisonColumnOptions,
): readonly PageColumn<Line>[] {
  return [
    {
      id: 'input',
      title: 'Input',
      width: isNarrow ? 180 : 240,
      cell: ({ input, expected }) => (
        <>
          <span class="clamped">{preview(input, 400) || '–'}</span>
          {!isNarrow && expected !== null && expected !== undefined && (
            <span class="clamped hint">Expected: {preview(expected, 200)}</span>
          )}
        </>
      ),
    },
    ...[base, ...others].map(
      ({ id, name }): PageColumn<Line> => ({
        id,
        title: id === base.id ? `${name} (base)` : name,
        width: isNarrow ? 150 : 270,
        cell: ({ sides }) => (
          <SideCell
            side={sides.get(id)}
            before={id === base.id ? undefined : sides.get(base.id)}
            score={score}
            isNarrow={isNarrow}
          />
        ),
      }),
    ),
  ]
}

interface SideProps {
  readonly side: Side | undefined
  readonly before: Side | undefined
  readonly score: string
}

function SideCell({ side, before, score, isNarrow }: SideProps & { readonly isNarrow: boolean }) {
  if (!side) return <span class="hint">No such example</span>
  if (isNarrow) return <SideScores side={side} before={before} score={score} />
  const { output, error } = side
  const isMarked = before !== undefined && parameter('words') !== 'whole'
  return (
    <>
      <div class="clamped">
        {error !== null && error !== undefined ? (
          <span class="bad">{preview(error)}</span>
        ) : isMarked && output !== before.output ? (
          <TextDifference isBrief before={before.output} after={output} />
        ) : (
          preview(output, 400)
        )}
      </div>
      <SideScores side={side} before={before} score={score} />
      <SideUsage side={side} />
    </>
  )
}

export function SideScores({ side, before, score }: SideProps) {
  const names = Object.keys(side?.scores ?? {}).sort()
  const ordered = names.includes(score) ? [score, ...names.filter((name) => name !== score)] : names
  return (
    <div class="side-scores">
      {ordered.map((name) => {
        const value = side?.scores[name]
        const old = before?.scores[name]
        if (typeof value !== 'number') return null
        return (
          <span key={name} class={name === score ? 'first' : undefined}>
            {name}{' '}
            <span class="whole">
              <b>{shownScore(value)}</b> {typeof old === 'number' && <Change value={value - old} />}
            </span>
          </span>
        )
      })}
    </div>
  )
}

/** What the example took and cost. */
export function SideUsage({ side }: { readonly side: Side }) {
  const told = [
    side.duration === undefined ? '' : duration(side.duration),
    side.tokens === undefined ? '' : counted(side.tokens, 'token'),
    side.cost === undefined ? '' : cost(side.cost),
  ].filter((text) => text !== '')
  return told.length === 0 ? null : <p class="side-usage hint">{told.join(' · ')}</p>
}
