/** One record of a queue, and the form that asks the reviewer about it. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { counted, isObject, number } from '../component/format.ts'
import { JsonView } from '../component/json-view.tsx'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { isInDialog } from '../component/typing.ts'
import { useAction } from '../service/action.ts'
import { useLoaded } from '../service/load.ts'
import { recordsOf } from '../service/picked-rows.ts'
import type { Row } from '../service/query.ts'
import {
  type Answers,
  giveAnswers,
  isComplete,
  type Review,
  type ReviewState,
} from '../service/review.ts'
import { parameter, setParameters } from '../state/location.ts'
import { ReviewAnswers, withKey } from './review-answers.tsx'
import { fieldTitle } from './span-metrics.tsx'

export interface ReviewRecordProps {
  readonly state: ReviewState
  /** Those that are gone through. */
  readonly records: readonly string[]
  readonly me: string
  readonly mayAnswer: boolean
  readonly onAnswered: () => void
}

const shownFields = ['input', 'output', 'expected', 'error', 'metadata'] as const

export function ReviewRecord(props: ReviewRecordProps) {
  const { state, records, me, mayAnswer } = props
  const { scores, reviews } = state
  const own = (id: string) => {
    return reviews.find(({ record, reviewer }) => record === id && reviewer === me)
  }
  const isDone = (id: string) => isComplete(own(id), scores)
  const asked = parameter('row')
  const first = records.find((id) => !isDone(id))
  const id = asked !== undefined && records.includes(asked) ? asked : first
  const isOver = mayAnswer && records.length > 0 && first === undefined && id === undefined
  if (records.length === 0) {
    return <Empty sketch="records" title="There is nothing to review in this queue" />
  }
  if (isOver) {
    return (
      <Empty sketch="records" title="You have reviewed everything">
        <p class="tools">
          <button type="button" onClick={() => setParameters({ row: records[0] })}>
            Look through your answers
          </button>
          <button type="button" onClick={() => setParameters({ tab: 'results' })}>
            See the results
          </button>
        </p>
      </Empty>
    )
  }
  const shown = id ?? records[0]!
  return (
    <div class="review-desk">
      <RecordValues key={shown} state={state} id={shown} />
      <Desk
        {...props}
        key={`form ${shown}`}
        id={shown}
        review={own(shown)}
        next={nextOf(records, shown, isDone)}
      />
    </div>
  )
}

/** The next that is to do, from here on and then from the start; undefined if this was the last. */
function nextOf(
  records: readonly string[],
  id: string,
  isDone: (id: string) => boolean,
): string | undefined {
  const place = records.indexOf(id)
  return [...records.slice(place + 1), ...records.slice(0, place)].find((each) => !isDone(each))
}

function RecordValues({ state, id }: { readonly state: ReviewState; readonly id: string }) {
  const { place } = state.queue
  const { data, error, reload } = useLoaded<readonly Row[]>(
    `record ${place.objectId} ${id}`,
    (signal) => recordsOf(place, [id], '*', signal),
  )
  if (error) return <Failure error={error} retry={reload} />
  if (!data) return <Loading what="the record" />
  const [row] = data
  if (!row) {
    return (
      <Empty sketch="records" title="This record is gone">
        Skip it: it was deleted after the queue was made.
      </Empty>
    )
  }
  return (
    <article class="review-values" aria-label="Record">
      {shownFields.map((field) => {
        const value = field === 'metadata' ? withoutAnswers(row[field], state) : row[field]
        const isEmpty = isObject(value) && Object.keys(value).length === 0
        return value === null || value === undefined || isEmpty ? null : (
          <section key={field} class={field}>
            <h3>{fieldTitle(field)}</h3>
            <JsonView value={value} label={field} />
          </section>
        )
      })}
    </article>
  )
}

/** Free text of answers is in the record's metadata, where it would tell what others have said. */
function withoutAnswers(metadata: unknown, { queue, scores }: ReviewState): unknown {
  if (!queue.isBlind || !isObject(metadata)) return metadata
  const asked = new Set(scores.map(({ name }) => name))
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !asked.has(name)))
}

interface DeskProps extends ReviewRecordProps {
  readonly id: string
  readonly review: Review | undefined
  /** Undefined when all others are done. */
  readonly next: string | undefined
}

function Desk({ state, records, mayAnswer, onAnswered, id, review, next }: DeskProps) {
  const { queue, scores } = state
  // Keys may come faster than the page is drawn: each goes on from what the last one came to.
  const form = useRef({
    answers: review?.answers ?? {},
    active: Math.max(
      scores.findIndex((score) => score.form !== 'text'),
      0,
    ),
  })
  const [, draw] = useState({})
  const set = (next: Partial<{ answers: Answers; active: number }>) => {
    form.current = { ...form.current, ...next }
    draw({})
  }
  const { answers, active } = form.current
  const place = records.indexOf(id)
  const before = records[place - 1]
  const go = (row: string | undefined) => setParameters({ row }, { replace: false })
  const save = useAction(async () => {
    const given = Object.fromEntries(
      Object.entries(form.current.answers).filter(
        ([name, value]) => value !== review?.answers[name],
      ),
    )
    if (Object.keys(given).length > 0) await giveAnswers(queue, id, scores, given)
    onAnswered()
    go(next)
  })
  const isWhole = () =>
    scores.every((score) => score.form === 'text' || form.current.answers[score.name] !== undefined)
  const skip = () => go(next ?? records[(place + 1) % records.length])
  const back = () => {
    if (before !== undefined) go(before)
  }
  const keys = useRef<(event: KeyboardEvent) => boolean>(() => false)
  /** What a letter, a digit or an arrow does; false for keys that do nothing. */
  const press = (key: string): boolean => {
    if (key === 's') skip()
    else if (key === 'b') back()
    else if (key === 'ArrowDown')
      set({ active: Math.min(form.current.active + 1, scores.length - 1) })
    else if (key === 'ArrowUp') set({ active: Math.max(form.current.active - 1, 0) })
    else return answer(key)
    return true
  }
  const answer = (key: string): boolean => {
    const { answers: given, active: here } = form.current
    const score = scores[here]
    const value = score && withKey(score, given[score.name], key)
    if (!score || value === undefined) return false
    const isAnswered = score.form === 'categories' && !score.takesSeveral
    const next = isAnswered ? Math.min(here + 1, scores.length - 1) : here
    set({ answers: { ...given, [score.name]: value }, active: next })
    return true
  }
  keys.current = (event) => {
    const { target, key } = event
    const isCommand = event.ctrlKey || event.metaKey
    const isAt = (selector: string) => target instanceof HTMLElement && target.matches(selector)
    if (key === 'Enter' && (isCommand || !isAt('textarea, button, a, summary'))) {
      if (isWhole()) void save.run()
      return true
    }
    return !isCommand && !event.altKey && !isAt('textarea') && press(key)
  }
  useLayoutEffect(() => {
    if (!mayAnswer) return
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isInDialog()) return
      if (keys.current(event)) event.preventDefault()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [mayAnswer])
  // Before the next key is read: it may lead on, and must not be led back.
  useLayoutEffect(() => {
    if (parameter('row') === undefined) setParameters({ row: id })
  }, [id])
  return (
    <aside class="review-form" aria-label="Your answers">
      <p class="hint">
        {number(place + 1)} of {counted(records.length, 'record')}
      </p>
      {mayAnswer ? (
        <ReviewAnswers
          scores={scores}
          answers={answers}
          active={active}
          onActive={(next) => set({ active: next })}
          onChange={(name, value) => set({ answers: { ...form.current.answers, [name]: value } })}
        />
      ) : (
        <p class="hint">You can look at the records; answering them is up to their reviewers.</p>
      )}
      {save.error && <Failure error={save.error} />}
      <div class="tools">
        <button type="button" disabled={before === undefined} onClick={back}>
          Back {mayAnswer && <kbd>B</kbd>}
        </button>
        <button type="button" onClick={skip}>
          {mayAnswer ? 'Skip' : 'Next'} {mayAnswer && <kbd>S</kbd>}
        </button>
        {mayAnswer && (
          <button
            type="button"
            class="primary"
            disabled={!isWhole() || save.isBusy}
            onClick={() => void save.run()}
          >
            Next <kbd>Enter</kbd>
          </button>
        )}
      </div>
    </aside>
  )
}
