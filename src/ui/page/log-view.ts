/**
 * How the logs are looked at: words, kind of rows, columns, time. All of it is in the URL; a saved view
 * is the same under a name.
 */
import type { Sort } from '../component/table-head.tsx'
import { quoted } from '../service/query.ts'
import type { Span } from '../service/time-buckets.ts'
import { parameter, setParameters } from '../state/location.ts'

export interface LogView {
  readonly text: string
  readonly rowsAre: 'traces' | 'spans'
  /** Ids of columns in their order; undefined for the usual ones. */
  readonly columns: readonly string[] | undefined
  /** Pixels, of columns that are not as wide as usual. */
  readonly widths: Readonly<Record<string, number>>
  readonly sort: Sort | undefined
  /** Of what is searched for words and sorted by no column. */
  readonly order: 'newest' | 'relevance'
  readonly time: TimeRange | undefined
}

/** The last while, or from one time to before another (ISO 8601). */
export type TimeRange =
  | { readonly kind: 'past'; readonly length: string }
  | { readonly kind: 'between'; readonly from: string; readonly to: string }

/** Lengths that a range may have that ends now, as the URL and the query language name them. */
export const pastLengths: readonly (readonly [id: string, interval: string, title: string])[] = [
  ['15m', '15 minute', '15 minutes'],
  ['1h', '1 hour', 'hour'],
  ['6h', '6 hour', '6 hours'],
  ['1d', '1 day', 'day'],
  ['7d', '7 day', '7 days'],
  ['30d', '30 day', '30 days'],
]

const names = ['q', 'rows', 'columns', 'widths', 'sort', 'order', 'time'] as const

export type ViewParameters = Readonly<Record<(typeof names)[number], string | undefined>>

export function viewOfUrl(): LogView {
  return readView(
    Object.fromEntries(names.map((name) => [name, parameter(name)])) as ViewParameters,
  )
}

export function readView({ q, rows, columns, widths, sort, order, time }: ViewParameters): LogView {
  return {
    text: q ?? '',
    rowsAre: rows === 'spans' ? 'spans' : 'traces',
    columns: columns?.split(',').map(decodeURIComponent),
    widths: Object.fromEntries(
      (widths ?? '').split(',').flatMap((part): [string, number][] => {
        const at = part.lastIndexOf(':')
        const width = Number(part.slice(at + 1))
        return at > 0 && width > 0 ? [[decodeURIComponent(part.slice(0, at)), width]] : []
      }),
    ),
    sort:
      sort === undefined
        ? undefined
        : { column: sort.replace(/^-/, ''), isDescending: sort.startsWith('-') },
    order: order === 'relevance' ? 'relevance' : 'newest',
    time: readTime(time),
  }
}

export function writeView({
  text,
  rowsAre,
  columns,
  widths,
  sort,
  order,
  time,
}: LogView): ViewParameters {
  return {
    q: text === '' ? undefined : text,
    rows: rowsAre === 'spans' ? 'spans' : undefined,
    columns: columns?.map(encodeURIComponent).join(','),
    widths: Object.entries(widths)
      .map(([id, width]) => `${encodeURIComponent(id)}:${width}`)
      .join(','),
    sort: sort && `${sort.isDescending ? '-' : ''}${sort.column}`,
    order: order === 'relevance' ? order : undefined,
    time: time && writeTime(time),
  }
}

export function changeView(changes: Partial<LogView>, options?: { replace: boolean }): void {
  const isOther = changes.text !== undefined || changes.rowsAre !== undefined
  setParameters(
    {
      ...writeView({ ...viewOfUrl(), ...changes }),
      ...(isOther && { trace: undefined, span: undefined }),
    },
    options,
  )
}

function readTime(text: string | undefined): TimeRange | undefined {
  if (text === undefined) return undefined
  const [from, to] = text.split('~')
  if (to === undefined) {
    return pastLengths.some(([id]) => id === text) ? { kind: 'past', length: text } : undefined
  }
  const isTime = (each: string | undefined) => !Number.isNaN(Date.parse(String(each)))
  return isTime(from) && isTime(to) ? { kind: 'between', from: from!, to } : undefined
}

function writeTime(time: TimeRange): string {
  return time.kind === 'past' ? time.length : `${time.from}~${time.to}`
}

/** As a condition of the query language. */
export function timeCondition(time: TimeRange | undefined): string | undefined {
  if (time === undefined) return undefined
  if (time.kind === 'between') {
    return `created >= ${quoted(time.from)} and created < ${quoted(time.to)}`
  }
  const [, interval] = pastLengths.find(([id]) => id === time.length) ?? []
  return interval && `created >= now() - interval ${interval}`
}

/** In seconds since 1970; undefined for all times. */
export function timeSpan(time: TimeRange | undefined): Span | undefined {
  if (time === undefined) return undefined
  if (time.kind === 'between') {
    return { from: Date.parse(time.from) / 1000, to: Date.parse(time.to) / 1000 }
  }
  const [, interval = ''] = pastLengths.find(([id]) => id === time.length) ?? []
  const [count, unit] = interval.split(' ')
  const seconds = { minute: 60, hour: 3600, day: 86_400 }[String(unit)] ?? 0
  const now = Date.now() / 1000
  return { from: now - Number(count) * seconds, to: now }
}
