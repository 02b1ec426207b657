/** Text in which what was looked for is marked. */
import { findParts, findRanges, type TextRange } from '../../type/find-phrase.ts'
import { readSearchQuery } from '../../type/search-query.ts'

/** What is looked for: words, phrases and beginnings as `match` takes them, or a part in any case. */
export type Sought = { readonly words: string } | { readonly part: string }

export const nothingSought: readonly Sought[] = []

/** More would cost more to show than they tell. */
const mostMarks = 200

export function Marked({
  text,
  sought,
}: {
  readonly text: string
  readonly sought: readonly Sought[]
}) {
  const ranges = sought.length === 0 ? [] : rangesOf(text, sought)
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
