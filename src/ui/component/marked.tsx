/** Text in which what was looked for is marked. */
import { findParts, findRanges, type TextRange } from '../../type/find-phrase.ts'
import { readSearchQuery } from '../../type/search-query.ts'

/** What is looked for: words, phrases and beginnings as `match` takes them, or a part in any case. */
export type Sought = { readonly words: string } | { readonly part: string }

export const nothingSought: readonly Sought[] = []

/** More would cost more to show than they tell. */
const mostMarks = 200

export interface MarkedProps {
  readonly text: string
  readonly sought: readonly Sought[]
}

export function Marked({ text, sought }: MarkedProps) {
  return withMarks(text, sought.length === 0 ? [] : rangesOf(text, sought))
}

/** The part of a long line that has what was looked for, or its beginning. */
export function Snippet({ text, sought, length }: MarkedProps & { readonly length: number }) {
  if (text.length <= length) return <Marked text={text} sought={sought} />
  const ranges = sought.length === 0 ? [] : rangesOf(text, sought)
  const [first] = ranges
  if (!first || first.to <= length * shownShare) {
    const seen = ranges.filter(({ to }) => to <= length)
    return withMarks(`${text.slice(0, length)}…`, seen)
  }
  const start = Math.max(0, first.from - Math.floor(length * leadShare))
  const end = start + length
  const moved = ranges
    .filter(({ from, to }) => from >= start && to <= end)
    .map(({ from, to }) => ({ from: from - start + 1, to: to - start + 1 }))
  return withMarks(`…${text.slice(start, end)}`, moved)
}

/** Of the room for a text: what is sure to be seen of it, and what is shown before a mark. */
const shownShare = 0.4
const leadShare = 0.1

function withMarks(text: string, ranges: readonly TextRange[]) {
  if (ranges.length === 0) return <>{text}</>
  const parts = []
  let at = 0
  for (const { from, to } of ranges) {
    // What overlaps is marked once.
    if (from < at) continue
    parts.push(text.slice(at, from), <mark key={from}>{text.slice(from, to)}</mark>)
    at = to
  }
  parts.push(text.slice(at))
  return <>{parts}</>
}

function rangesOf(text: string, sought: readonly Sought[]): TextRange[] {
  return sought
    .flatMap((each) =>
      'words' in each
        ? findRanges(text, readSearchQuery(each.words), mostMarks)
        : findParts(text, each.part, mostMarks),
    )
    .sort((a, b) => a.from - b.from)
}
