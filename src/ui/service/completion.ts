/** What may follow in a search, and what is wrong with one that is written as a query. */
import { useEffect, useState } from 'preact/hooks'
import type { Checked, Offers, Problem } from '../editor/service.ts'
import { offsetOf } from '../editor/text-place.ts'
import { requestJson } from './client.ts'
import { ownProject } from './own-project.ts'

const pauseMs = 120

/** After these a value comes next, though nothing of it is written. */
const beforeValue = /(?:[=<>]|\b(?:in|like|ilike|includes)\s*\[?)\s*$/i

/**
 * Asked once nothing was typed for a moment; undefined while nothing is to be offered.
 *
 * @param text undefined asks for nothing
 */
export function useCompletion(
  text: string | undefined,
  position: number,
  source: string,
): Offers | undefined {
  const [found, setFound] = useState<{ readonly text: string; readonly offers: Offers }>()
  const before = text?.slice(0, position) ?? ''
  const isBetweenWords = /\s$/.test(before) && !beforeValue.test(before)
  const isAsked =
    text !== undefined && (before.trim() === '' ? text.trim() === '' : !isBetweenWords)
  useEffect(() => {
    if (!isAsked) return
    const abandon = new AbortController()
    const timer = window.setTimeout(() => {
      const place = {
        position: Math.min(position, text.length),
        from: source,
        ...ownProject(source),
      }
      const body = { query: text, ...place }
      requestJson<Offers>('/btql/complete', { body, signal: abandon.signal }).then(
        (offers) => setFound({ text, offers }),
        // Completion is a convenience: without an answer there is none.
        () => undefined,
      )
    }, pauseMs)
    return () => {
      window.clearTimeout(timer)
      abandon.abort()
    }
  }, [text, position, source, isAsked])
  return isAsked && found?.text === text ? found.offers : undefined
}

export function checkQuery(text: string, source: string, signal: AbortSignal): Promise<Checked> {
  const body = { query: text, from: source, ...ownProject(source) }
  return requestJson('/btql/check', { body, signal })
}

/** Where in the text something is wrong, as offsets; undefined if that is not known. */
export function placeIn(
  text: string,
  { line, column, endLine, endColumn }: Problem,
): { readonly start: number; readonly end: number } | undefined {
  if (line === undefined || column === undefined) return undefined
  const start = offsetOf(text, line, column)
  const end = offsetOf(text, endLine ?? line, endColumn ?? column)
  return { start, end: Math.max(end, start + 1) }
}
