/** The scores of a queue as a form, each answered by a key or two. */
import { useId } from 'preact/hooks'
import { share } from '../component/format.ts'
import type { Answers, ReviewAnswer, ReviewScore } from '../service/review.ts'

export interface ReviewAnswersProps {
  readonly scores: readonly ReviewScore[]
  readonly answers: Answers
  /** The place of the score that keys answer. */
  readonly active: number
  readonly onActive: (place: number) => void
  readonly onChange: (name: string, value: ReviewAnswer) => void
}

const step = 0.05

/** What the answer is after a key was pressed; undefined for keys that say nothing. */
export function withKey(
  score: ReviewScore,
  answer: ReviewAnswer | undefined,
  key: string,
): ReviewAnswer | undefined {
  const digit = /^\d$/.test(key) ? Number(key) : undefined
  if (score.form === 'slider') {
    const before = typeof answer === 'number' ? answer : 0.5
    if (digit !== undefined) return digit / 10
    if (key === '+' || key === '=') return rounded(before + step)
    return key === '-' ? rounded(before - step) : undefined
  }
  const category = digit === undefined ? undefined : score.categories[digit - 1]
  return category && chosen(score, answer, category.name)
}

function rounded(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * 100) / 100
}

function chosen(
  { takesSeveral }: ReviewScore,
  answer: ReviewAnswer | undefined,
  name: string,
): ReviewAnswer {
  if (!takesSeveral) return name
  const before = Array.isArray(answer) ? (answer as readonly string[]) : []
  return before.includes(name) ? before.filter((each) => each !== name) : [...before, name]
}

export function ReviewAnswers(props: ReviewAnswersProps) {
  const { scores, answers, active, onActive, onChange } = props
  return (
    <div class="review-scores">
      {scores.map((score, place) => (
        <fieldset
          key={score.name}
          class={place === active ? 'active' : undefined}
          onFocusCapture={() => onActive(place)}
        >
          <legend>{score.name}</legend>
          {score.description && <p class="hint">{score.description}</p>}
          <Answer
            score={score}
            answer={answers[score.name]}
            hasKeys={place === active}
            onChange={(value) => onChange(score.name, value)}
          />
        </fieldset>
      ))}
    </div>
  )
}

interface AnswerProps {
  readonly score: ReviewScore
  readonly answer: ReviewAnswer | undefined
  readonly hasKeys: boolean
  readonly onChange: (value: ReviewAnswer) => void
}

function Answer(props: AnswerProps) {
  switch (props.score.form) {
    case 'categories':
      return <Categories {...props} />
    case 'slider':
      return <Slider {...props} />
    case 'text':
      return (
        <textarea
          rows={3}
          aria-label={props.score.name}
          value={typeof props.answer === 'string' ? props.answer : ''}
          onInput={(event) => props.onChange(event.currentTarget.value)}
        />
      )
  }
}

function Categories({ score, answer, hasKeys, onChange }: AnswerProps) {
  const name = useId()
  const isChosen = (each: string) =>
    Array.isArray(answer) ? answer.includes(each) : answer === each
  return (
    <div class="categories">
      {score.categories.map((category, i) => (
        <label key={category.name} class={isChosen(category.name) ? 'chosen' : undefined}>
          <input
            type={score.takesSeveral ? 'checkbox' : 'radio'}
            name={name}
            checked={isChosen(category.name)}
            onChange={() => onChange(chosen(score, answer, category.name))}
          />
          <span>{category.name}</span>
          {hasKeys && i < 9 && <kbd>{i + 1}</kbd>}
        </label>
      ))}
    </div>
  )
}

function Slider({ score, answer, hasKeys, onChange }: AnswerProps) {
  const value = typeof answer === 'number' ? answer : undefined
  return (
    <div class="slider">
      <input
        type="range"
        min="0"
        max="100"
        step="1"
        aria-label={score.name}
        aria-valuetext={value === undefined ? 'not given' : share(value)}
        value={String(Math.round((value ?? 0.5) * 100))}
        onInput={(event) => onChange(Number(event.currentTarget.value) / 100)}
      />
      <output>{value === undefined ? '–' : share(value)}</output>
      {hasKeys && (
        <span class="hint">
          <kbd>0</kbd>–<kbd>9</kbd> <kbd>+</kbd> <kbd>-</kbd>
        </span>
      )}
    </div>
  )
}
