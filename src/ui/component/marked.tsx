/** Text in which words that were looked for are marked. */
export function Marked({
  text,
  words,
}: {
  readonly text: string
  readonly words: readonly string[]
}) {
  const ranges = words.length === 0 ? [] : foundRanges(text, words)
  if (ranges.length === 0) return <>{text}</>
  const parts = []
  let at = 0
  for (const [start, end] of ranges) {
    parts.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>)
    at = end
  }
  parts.push(text.slice(at))
  return <>{parts}</>
}

/** More would cost more to show than they tell. */
const mostMarks = 500

/** Where words are, whatever their case, in order and without overlaps. */
function foundRanges(text: string, words: readonly string[]): (readonly [number, number])[] {
  const patterns = words
    .filter((word) => word !== '')
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  if (patterns.length === 0) return []
  const found: (readonly [number, number])[] = []
  for (const match of text.matchAll(new RegExp(patterns.join('|'), 'giu'))) {
    found.push([match.index, match.index + match[0].length])
    if (found.length === mostMarks) break
  }
  return found
}
