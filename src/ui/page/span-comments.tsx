/** What people wrote about a span. */
import { useRef } from 'preact/hooks'
import { writeExactJson } from '../../json/exact-number.ts'
import { isObject } from '../component/format.ts'
import { Failure } from '../component/notice.tsx'
import { When } from '../component/when.tsx'
import { useAction } from '../service/action.ts'
import { giveFeedback } from '../service/feedback.ts'
import { at } from '../service/query.ts'
import type { SpanPartProps } from './span-scores.tsx'

export function SpanComments({ place, row, mayChange, onChange }: SpanPartProps) {
  const comments: readonly unknown[] = Array.isArray(row.comments) ? row.comments : []
  const form = useRef<HTMLFormElement>(null)
  const { run, isBusy, error } = useAction(async (comment: string) => {
    await giveFeedback(place, String(row.id), { comment })
    form.current?.reset()
    onChange()
  })
  if (!mayChange && comments.length === 0) return null
  return (
    <section class="feedback" aria-label="Comments">
      <h4>Comments</h4>
      {comments.length > 0 && (
        <ul class="comments">
          {comments.filter(isObject).map((comment, i) => (
            <li key={String(comment.id ?? i)}>
              <p>{textOf(comment)}</p>
              <span class="hint">
                <When at={String(comment.created)} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {mayChange && (
        <form
          ref={form}
          class="comment-form"
          onSubmit={(event) => {
            event.preventDefault()
            const comment = String(new FormData(event.currentTarget).get('comment') ?? '').trim()
            if (comment !== '') void run(comment)
          }}
          onKeyDown={(event) => {
            const isSent = event.key === 'Enter' && (event.ctrlKey || event.metaKey)
            if (isSent) event.currentTarget.requestSubmit()
          }}
        >
          <textarea
            name="comment"
            aria-label="Comment"
            placeholder="Say something about it"
            rows={2}
          />
          <button type="submit" disabled={isBusy}>
            Comment
          </button>
        </form>
      )}
      {error && <Failure error={error} />}
    </section>
  )
}

function textOf(comment: unknown): string {
  const text = at(comment, 'comment', 'text') ?? at(comment, 'text')
  return typeof text === 'string' ? text : writeExactJson(comment)
}
