/** Queries and searches. */
import { request, requestJson } from './client.ts'
import { parseRows } from './exact-json.ts'
import { ownProject } from './own-project.ts'
import { takesQueries } from './session.ts'

export type Row = Readonly<Record<string, unknown>>

export interface Interpretation {
  readonly kind: 'btql' | 'translated' | 'full_text'
  readonly query: string
  readonly filter: string | null
  readonly explanation: string
  readonly translator?: 'built_in' | 'language_model'
  readonly fault?: string
  /** Texts that are looked for: words as `match` takes them, or parts in any case. */
  readonly looked_for?: readonly { readonly words?: string; readonly part?: string }[]
}

/** Minutes behind UTC of the person's clock. */
export const tzOffset = new Date().getTimezoneOffset()

/**
 * What a person's words are taken for, as they have chosen; nothing of it is run.
 *
 * @param order of rows that are searched for words and not sorted otherwise
 */
export function interpret(
  text: string,
  source: string,
  signal: AbortSignal,
  order: 'newest' | 'relevance' = 'newest',
): Promise<Interpretation> {
  // Nobody looks for words like that: it is what the page writes where one filters by a value.
  const query_language = takesQueries() || text.startsWith('filter: ')
  const place = ownProject(source)
  const body = { text, source, tz_offset: tzOffset, query_language, order, run: false, ...place }
  return requestJson('/search', { body, signal })
}

export interface Answer {
  readonly data: readonly Row[]
  readonly cursor?: string
  readonly schema: { readonly items?: { readonly properties?: Readonly<Record<string, unknown>> } }
}

/** @param version an `_xact_id`: records as they were then */
export async function query(text: string, signal?: AbortSignal, version?: string): Promise<Answer> {
  const body = {
    query: text,
    tz_offset: tzOffset,
    ...ownProject(text),
    ...(version !== undefined && { version }),
  }
  const response = await request('/btql', { body, ...(signal && { signal }) })
  return parseRows(await response.text()) as Answer
}

/** A text as the query language writes it. */
export function quoted(text: string): string {
  return `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`
}

/** A step into a value that may be anything. */
export function at(value: unknown, ...steps: readonly string[]): unknown {
  let found = value
  for (const step of steps) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = (found as Row)[step]
  }
  return found
}
