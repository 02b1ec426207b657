import { useState } from 'preact/hooks'
import { number } from './format.ts'
import { Marked, nothingSought, type Sought } from './marked.tsx'

/** Longer texts show so much first, then so much more at a time: a browser lays out text slowly. */
const cutText = 2000
const nextText = 200_000

export function LongText({
  text,
  sought = nothingSought,
}: {
  readonly text: string
  readonly sought?: readonly Sought[]
}) {
  const [shown, setShown] = useState(cutText)
  const rest = text.length - shown
  return (
    <div class="text">
      <pre>
        <Marked text={rest > 0 ? text.slice(0, shown) : text} sought={sought} />
      </pre>
      {rest > 0 && (
        <button type="button" onClick={() => setShown(shown + nextText)}>
          … {number(rest)} more characters
        </button>
      )}
    </div>
  )
}
