/** What the output should have been: shown, and changed in place as JSON or text. */
import { useState } from 'preact/hooks'
import { writeExactJson } from '../../json/exact-number.ts'
import { JsonView } from '../component/json-view.tsx'
import type { Sought } from '../component/marked.tsx'
import { Failure } from '../component/notice.tsx'
import { useAction } from '../service/action.ts'
import { parseExactly } from '../service/exact-json.ts'
import { replaceFields } from '../service/feedback.ts'
import type { SpanPartProps } from './span-scores.tsx'

export function SpanExpected({
  place,
  row,
  mayChange,
  sought,
  onChange,
}: SpanPartProps & { readonly sought: readonly Sought[] }) {
  const { expected } = row
  const isThere = expected !== null && expected !== undefined
  const [isEdited, setEdited] = useState(false)
  const { run, isBusy, error } = useAction(async (text: string) => {
    await replaceFields(place, String(row.id), { expected: readValue(text) })
    setEdited(false)
    onChange()
  })
  if (!mayChange && !isThere) return null
  return (
    <section class="expected">
      <h4>
        Expected{' '}
        {mayChange && !isEdited && (
          <button type="button" onClick={() => setEdited(true)}>
            {isThere ? 'Change' : '+ Say what was expected'}
          </button>
        )}
      </h4>
      {isEdited ? (
        <form
          class="value-form"
          onSubmit={(event) => {
            event.preventDefault()
            void run(String(new FormData(event.currentTarget).get('value') ?? ''))
          }}
        >
          <textarea
            name="value"
            aria-label="Expected"
            rows={6}
            spellcheck={false}
            autofocus
            defaultValue={writeValue(isThere ? expected : row.output)}
          />
          <p class="hint">JSON, or else it is a text. Nothing takes it away.</p>
          <button type="submit" class="primary" disabled={isBusy}>
            Save
          </button>
          <button type="button" onClick={() => setEdited(false)}>
            Cancel
          </button>
          {error && <Failure error={error} />}
        </form>
      ) : (
        isThere && <JsonView value={expected} label="expected" sought={sought} />
      )}
    </section>
  )
}

/** A text that reads as JSON is that; `"5"` is the text of a number. */
function readValue(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return parseExactly(text)
  } catch {
    return text
  }
}

function writeValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  const isPlain = typeof value === 'string' && readValue(value) === value
  return isPlain ? value : writeExactJson(value, '  ')
}
