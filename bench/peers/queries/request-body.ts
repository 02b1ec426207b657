/** The bodies in which people's clients send a query: the same query in each. */
import { printQueryObject } from './query-object.ts'

export const bodyForms = ['bare', 'page', 'javascript', 'python'] as const

export type BodyForm = (typeof bodyForms)[number]

/** Minutes behind UTC of those who look at the page. */
const pageOffsets = [-60, -120, 300, -480]

/** The form of an ask of a query, so that each ask has another than the one before, as has each query. */
export function bodyFormOf(query: number, ask: number): BodyForm {
  return bodyForms[(query + ask) % bodyForms.length]!
}

/** Only the page tells the time of its user. */
export function tzOffsetOf(form: BodyForm, ask: number): number {
  if (form !== 'page') return 0
  return pageOffsets[Math.floor(ask / bodyForms.length) % pageOffsets.length]!
}

export interface AskedQuery {
  readonly text: string
  readonly tzOffset: number
}

export function requestBody(form: BodyForm, { text, tzOffset }: AskedQuery): string {
  switch (form) {
    case 'bare':
      return JSON.stringify({ query: text })
    case 'page':
      return JSON.stringify({ query: text, tz_offset: tzOffset })
    case 'javascript':
      return JSON.stringify({
        query: printQueryObject(text),
        use_columnstore: false,
        brainstore_realtime: true,
        query_source: 'js_sdk_object_fetcher_project_logs',
      })
    case 'python':
      return JSON.stringify({
        query: { ...printQueryObject(text), cursor: null },
        use_columnstore: false,
        brainstore_realtime: true,
        query_source: 'py_sdk_object_fetcher_project_logs',
        version: null,
      })
  }
}
