/** Scores of a span, given and changed in place. */

import { useState } from 'preact/hooks'
import { isObject, score } from '../component/format.ts'
import { Failure } from '../component/notice.tsx'
import { Select } from '../component/select.tsx'
import { useAction } from '../service/action.ts'
import { giveFeedback, type RecordPlace, type ScoreKind, scoreKinds } from '../service/feedback.ts'
import { useLoaded } from '../service/load.ts'
import type { Row } from '../service/query.ts'

export interface SpanPartProps {
  readonly place: RecordPlace
  readonly row: Row
  readonly mayChange: boolean
  readonly onChange: () => void
}

export function SpanScores({ place, row, mayChange, onChange }: SpanPartProps) {
  const scores = isObject(row.scores) ? row.scores : {}
  const { data: kinds = [] } = useLoaded(
    mayChange && place.type === 'project_logs' ? `score kinds ${place.objectId}` : undefined,
    (signal) => scoreKinds(place.objectId, signal),
  )
  const [edited, setEdited] = useState<string>()
  const { run, isBusy, error } = useAction(async (name: string, value: number | null) => {
    await giveFeedback(place, String(row.id), { scores: { [name]: value } })
    setEdited(undefined)
    onChange()
  })
  const names = [...new Set([...Object.keys(scores), ...kinds.map(({ name }) => name)])].sort(
    byName,
  )
  if (!mayChange && names.length === 0) return null
  return (
    <section class="feedback" aria-label="Scores">
      <h4>Scores</h4>
      <ul class="score-list">
        {names.map((name) => (
          <li key={name}>
            {edited === name ? (
              <ScoreForm
                name={name}
                value={scores[name]}
                kind={kinds.find((each) => each.name === name)}
                isBusy={isBusy}
                onGive={(value) => void run(name, value)}
                onCancel={() => setEdited(undefined)}
              />
            ) : !mayChange ? (
              <span class="given-score">
                {name} <strong>{score(scores[name]) || '–'}</strong>
              </span>
            ) : (
              <button
                type="button"
                class="given-score"
                title="Change this score"
                onClick={() => setEdited(name)}
              >
                {name} <strong>{score(scores[name]) || '–'}</strong>
              </button>
            )}
          </li>
        ))}
        <li hidden={!mayChange}>
          {!mayChange ? null : edited === '' ? (
            <ScoreForm
              name={undefined}
              value={undefined}
              kind={undefined}
              isBusy={isBusy}
              onGive={(value, name) => void run(name, value)}
              onCancel={() => setEdited(undefined)}
            />
          ) : (
            <button type="button" onClick={() => setEdited('')}>
              + Score
            </button>
          )}
        </li>
      </ul>
      {error && <Failure error={error} />}
    </section>
  )
}

/** `score 2` before `score 10`. */
const { compare: byName } = new Intl.Collator(undefined, { numeric: true })

function ScoreForm({
  name,
  value,
  kind,
  isBusy,
  onGive,
  onCancel,
}: {
  /** Undefined for a new one. */
  readonly name: string | undefined
  readonly value: unknown
  readonly kind: ScoreKind | undefined
  readonly isBusy: boolean
  readonly onGive: (value: number | null, name: string) => void
  readonly onCancel: () => void
}) {
  const choices = choicesOf(kind)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const given = String(form.get('value') ?? '').trim()
    const percent = Number(given)
    onGive(
      given === '' ? null : choices ? percent : percent / 100,
      name ?? String(form.get('name') ?? '').trim(),
    )
  }
  return (
    <form
      class="inline"
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
    >
      {name === undefined ? (
        <input name="name" aria-label="Name of the score" placeholder="Name" required autofocus />
      ) : (
        <span>{name}</span>
      )}
      {choices ? (
        <Select
          name="value"
          label={`Score ${name}`}
          options={[
            { value: '', label: '–' },
            ...choices.map(([label, number]) => ({ value: String(number), label })),
          ]}
          {...(typeof value === 'number' && { initial: String(value) })}
        />
      ) : (
        <span>
          <input
            name="value"
            type="number"
            min="0"
            max="100"
            step="any"
            aria-label={name === undefined ? 'Score in per cent' : `Score ${name} in per cent`}
            autofocus={name !== undefined}
            {...(typeof value === 'number' && {
              defaultValue: String(Math.round(value * 1e6) / 1e4),
            })}
          />{' '}
          %
        </span>
      )}
      <button type="submit" class="primary" disabled={isBusy}>
        Give
      </button>
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </form>
  )
}

/** Names of values that people choose from, where a project has such for a score. */
function choicesOf(
  kind: ScoreKind | undefined,
): readonly (readonly [string, number])[] | undefined {
  if (!kind || !Array.isArray(kind.categories)) return undefined
  const choices = kind.categories.flatMap((each: unknown): [string, number][] =>
    isObject(each) && typeof each.name === 'string' && typeof each.value === 'number'
      ? [[each.name, each.value]]
      : [],
  )
  return choices.length > 0 ? choices : undefined
}
