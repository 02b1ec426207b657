import { useState } from 'preact/hooks'
import { number } from './format.ts'
import { Marked, nothingSought, type Sought } from './marked.tsx'

/** Longer texts show so much first, then so much more at a time: a browser lays out text slowly. */
const cutText = 2000
const nextText = 200_000

/** What is shown before a place that is looked for. */
const leadText = 200

export interface LongTextProps {
  readonly text: string
  readonly sought?: readonly Sought[]
}

/** Text that is cut visibly; where a part of it is looked for, the first place that has it is shown. */
export function LongText({ text, sought = nothingSought }: LongTextProps) {
  const [shown, setShown] = useState(cutText)
  const [isFromStart, setFromStart] = useState(false)
  const found = isFromStart ? 0 : placeOf(text, sought)
  const start = found < shown ? 0 : Math.max(0, found - leadText)
  const rest = text.length - start - shown
  return (
    <div class="text">
      {start > 0 && (
        <button type="button" onClick={() => setFromStart(true)}>
          {number(start)} characters before …
        </button>
      )}
      <pre dir="auto">
        <Marked text={text.slice(start, start + shown)} sought={sought} />
      </pre>
      {rest > 0 && (
        <button type="button" onClick={() => setShown(shown + nextText)}>
          … {number(rest)} more characters
        </button>
      )}
    </div>
  )
}

/** The first place of a part that is looked for; 0 if there is none. */
function placeOf(text: string, sought: readonly Sought[]): number {
  if (text.length <= cutText) return 0
  const lower = text.toLowerCase()
  for (const each of sought) {
    const place = 'part' in each ? lower.indexOf(each.part.toLowerCase()) : -1
    if (place > 0) return place
  }
  return 0
}
