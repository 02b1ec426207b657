/** Where the logs show what a figure counts. */
import { asSearch } from '../service/filter-terms.ts'
import { momentOf } from '../service/home-period.ts'
import type { Span } from '../service/time-buckets.ts'
import { parts, pathOf } from '../state/location.ts'
import { type LogView, writeView } from './log-view.ts'

export interface LogsPlace extends Partial<Omit<LogView, 'time'>> {
  readonly span?: Span
  /** The root span of the trace that is open. */
  readonly trace?: string
}

/** The address of the logs of the project that is shown. */
export function logsAddress({ span, trace, ...view }: LogsPlace): string {
  const [, organization = '', , project = ''] = parts.value
  const usual = { text: '', rowsAre: 'traces', columns: undefined, widths: {} } as const
  const time = span && ({ kind: 'between', ...edgesOf(span) } as const)
  const written = writeView({
    ...{ ...usual, sort: undefined, order: 'newest', time },
    ...view,
    text: asSearch(view.text ?? ''),
  })
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...written, trace })) {
    if (value !== undefined && value !== '') parameters.set(name, value)
  }
  const search = parameters.toString()
  return `${pathOf('app', organization, 'p', project, 'logs')}${search === '' ? '' : `?${search}`}`
}

function edgesOf({ from, to }: Span) {
  return { from: momentOf(from), to: momentOf(to) }
}
