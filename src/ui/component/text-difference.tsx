/** Two texts as one, with the words that only one of them has. */
import type { Change as Part } from 'diff'
import { useMemo } from 'preact/hooks'
import { writeExactJson } from '../../json/exact-number.ts'
import { useLoaded } from '../service/load.ts'
import { joinedChanges } from './joined-changes.ts'
import { loadPersistently } from './lazy.tsx'
import { PartFailure } from './notice.tsx'

export interface TextDifferenceProps {
  readonly before: string
  readonly after: string
  /** Shows the later text as it is where little of it was there before. */
  readonly isBrief?: boolean
}

/** Of a longer text's characters: with less in common, differences say nothing at a glance. */
const leastCommon = 0.4
const shortText = 120

/** Longer texts are compared line by line, and given up after so many milliseconds. */
const longestByWords = 50_000
const longestMs = 2000

export function TextDifference({ before, after, isBrief = false }: TextDifferenceProps) {
  const library = useLoaded('diff', () => loadPersistently(() => import('diff')))
  const parts = useMemo((): readonly Part[] | undefined => {
    if (!library.data) return undefined
    const { diffWordsWithSpace, diffLines } = library.data
    const options = { timeout: longestMs }
    if (before.length + after.length > longestByWords) return diffLines(before, after, options)
    const words = diffWordsWithSpace(before, after, { ...options, intlSegmenter: segmenter })
    return words && joinedChanges(words)
  }, [library.data, before, after])
  if (library.error) return <PartFailure what="differences" />
  if (!library.data) return <pre>{after}</pre>
  const isOther = after.length > shortText && parts && commonShare(parts) < leastCommon
  if (isBrief && isOther) return <pre>{after}</pre>
  if (!parts) {
    return (
      <>
        <p class="hint">The texts are too different to show word by word.</p>
        <pre>{after}</pre>
      </>
    )
  }
  return (
    <pre class="difference">
      {parts.map(({ value, added, removed }, index) =>
        added ? <ins key={index}>{value}</ins> : removed ? <del key={index}>{value}</del> : value,
      )}
    </pre>
  )
}

function commonShare(parts: readonly Part[]): number {
  let [common, later] = [0, 0]
  for (const { value, added, removed } of parts) {
    if (!removed) later += value.length
    if (!added && !removed) common += value.length
  }
  return later === 0 ? 0 : common / later
}

/** Finds words in scripts that put no spaces between them, too. */
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** A value as it is compared: texts as they are, anything else as JSON over lines. */
export function comparableText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : writeExactJson(value, '  ')
}
