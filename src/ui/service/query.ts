/** Queries and searches. */
import { requestJson } from './client.ts'

export type Row = Readonly<Record<string, unknown>>

export interface Interpretation {
  readonly kind: 'btql' | 'translated' | 'full_text'
  readonly query: string
  readonly filter: string | null
  readonly explanation: string
  readonly translator?: 'built_in' | 'language_model'
  readonly fault?: string
}

export interface SearchPage extends Interpretation {
  readonly data: readonly Row[]
  readonly cursor?: string
}

/** Minutes behind UTC of the person's clock. */
export const tzOffset = new Date().getTimezoneOffset()

export interface SearchOptions {
  readonly text: string
  readonly source: string
  readonly cursor?: string | undefined
  readonly signal?: AbortSignal
}

/** One page of what a person's words find. Long values are cut. */
export function search({ text, source, cursor, signal }: SearchOptions): Promise<SearchPage> {
  return requestJson('/search', {
    body: {
      text,
      source,
      tz_offset: tzOffset,
      preview_length: 300,
      ...(cursor !== undefined && { cursor }),
    },
    ...(signal && { signal }),
  })
}

export interface Answer {
  readonly data: readonly Row[]
  readonly cursor?: string
  readonly schema: { readonly items?: { readonly properties?: Readonly<Record<string, unknown>> } }
}

export function query(text: string, signal?: AbortSignal): Promise<Answer> {
  const body = { query: text, tz_offset: tzOffset }
  return requestJson('/btql', { body, ...(signal && { signal }) })
}

/** A text as the query language writes it. */
export function quoted(text: string): string {
  return `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`
}

/** A step into a value that may be anything. */
export function at(value: unknown, ...steps: readonly string[]): unknown {
  let found = value
  for (const step of steps) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Row)[step]
  }
  return found
}
