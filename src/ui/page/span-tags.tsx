/** Tags of a span, added and removed in place. */
import { useState } from 'preact/hooks'
import { Icon } from '../component/icon.tsx'
import { Failure } from '../component/notice.tsx'
import { useAction } from '../service/action.ts'
import { replaceFields } from '../service/feedback.ts'
import type { SpanPartProps } from './span-scores.tsx'

export function SpanTags({ place, row, mayChange, onChange }: SpanPartProps) {
  const tags: readonly string[] = Array.isArray(row.tags) ? row.tags.map(String) : []
  const [isAdding, setAdding] = useState(false)
  const { run, isBusy, error } = useAction(async (next: readonly string[]) => {
    await replaceFields(place, String(row.id), { tags: next })
    setAdding(false)
    onChange()
  })
  if (!mayChange && tags.length === 0) return null
  return (
    <section class="feedback" aria-label="Tags">
      <h4>Tags</h4>
      <ul class="tag-list">
        {tags.map((tag) => (
          <li key={tag} class="tag">
            {tag}
            {mayChange && (
              <button
                type="button"
                class="plain"
                aria-label={`Remove the tag ${tag}`}
                disabled={isBusy}
                onClick={() => void run(tags.filter((each) => each !== tag))}
              >
                <Icon name="close" />
              </button>
            )}
          </li>
        ))}
        <li hidden={!mayChange}>
          {!mayChange ? null : isAdding ? (
            <form
              class="inline"
              onSubmit={(event) => {
                event.preventDefault()
                const form = new FormData(event.currentTarget)
                const tag = String(form.get('tag') ?? '').trim()
                if (tag === '' || tags.includes(tag)) setAdding(false)
                else void run([...tags, tag])
              }}
              onKeyDown={(event) => event.key === 'Escape' && setAdding(false)}
            >
              <input name="tag" aria-label="New tag" placeholder="Tag" autofocus />
              <button type="submit" disabled={isBusy}>
                Add
              </button>
            </form>
          ) : (
            <button type="button" onClick={() => setAdding(true)}>
              + Tag
            </button>
          )}
        </li>
      </ul>
      {error && <Failure error={error} />}
    </section>
  )
}
