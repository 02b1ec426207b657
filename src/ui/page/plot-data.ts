/** What a plot of rows shows: which column goes where, by what is in them. */
import { writeExactJson } from '../../json/exact-number.ts'
import { counted } from '../component/format.ts'
import type { ColumnSchema, Row } from '../service/answer.ts'

export type ColumnKind = 'time' | 'number' | 'text' | 'other'

/** More lines or colors cannot be told from each other. */
export const mostSeries = 12

/** More bars cannot be read. */
export const mostCategories = 60

export const chartKinds = ['line', 'bars', 'points'] as const
export type ChartKind = (typeof chartKinds)[number]

export interface PlotChoice {
  readonly x: string
  readonly y: string
  /** Its values are a line or color each. */
  readonly series: string | undefined
  readonly chart: ChartKind
}

export interface Series {
  readonly name: string
  /** By the places of `xs`; null where there is none. */
  readonly values: readonly (number | null)[]
}

export interface PlotData extends PlotChoice {
  readonly isTime: boolean
  /** Seconds since 1970, numbers, or, of bars, texts. */
  readonly xs: readonly (number | string)[]
  readonly series: string | undefined
  readonly lines: readonly Series[]
  /** What is not in it, or not as one would think. */
  readonly notes: readonly string[]
}

const isoTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d|$)/

/** By the schema where it says so, else by the values that are not null. */
export function kindOf(name: string, schema: ColumnSchema, rows: readonly Row[]): ColumnKind {
  if (schema.format === 'date-time') return 'time'
  const values = rows.slice(0, 500).flatMap((row) => row[name] ?? [])
  if (values.length === 0) return schema.type === 'string' ? 'text' : 'other'
  if (values.every((value) => typeof value === 'number')) return 'number'
  if (!values.every((value) => typeof value === 'string' || typeof value === 'boolean'))
    return 'other'
  return values.every((value) => typeof value === 'string' && isoTime.test(value)) ? 'time' : 'text'
}

export type ColumnKinds = ReadonlyMap<string, ColumnKind>

export function kindsOf(
  columns: ReadonlyMap<string, ColumnSchema>,
  rows: readonly Row[],
): ColumnKinds {
  return new Map([...columns].map(([name, schema]) => [name, kindOf(name, schema, rows)]))
}

export interface AskedChoice {
  readonly x?: string | undefined
  readonly y?: string | undefined
  /** An empty text is none at all. */
  readonly series?: string | undefined
  readonly chart?: string | undefined
}

/**
 * What was asked for, where there are such columns, and the likeliest for the rest: time goes along
 * the bottom, else what names things; a further text divides the rest.
 *
 * @returns undefined where no column has numbers
 */
export function choosePlot(
  kinds: ColumnKinds,
  rows: readonly Row[],
  asked: AskedChoice,
): PlotChoice | undefined {
  const names = (kind: ColumnKind) =>
    [...kinds].flatMap(([name, each]) => (each === kind ? name : []))
  const numbers = names('number')
  const known = (name: string | undefined) =>
    name !== undefined && kinds.has(name) ? name : undefined
  const x =
    known(asked.x) ??
    names('time')[0] ??
    names('text')[0] ??
    (numbers.length > 1 ? numbers[0] : undefined)
  const y = known(asked.y) ?? numbers.find((name) => name !== x)
  if (x === undefined || y === undefined) return undefined
  const xKind = kinds.get(x)
  // A line takes two places.
  const isOnePlace = new Set(rows.map((row) => row[x])).size < 2
  const usual: ChartKind =
    isOnePlace || xKind === 'text' ? 'bars' : xKind === 'number' ? 'points' : 'line'
  const chart = chartKinds.find((each) => each === asked.chart) ?? usual
  const isFree = (name: string) => name !== x && name !== y
  const dividing = names('text')
    .filter(isFree)
    .find((name) => {
      const different = new Set(rows.map((row) => row[name]))
      return different.size > 1 && different.size <= mostSeries
    })
  const wanted = known(asked.series)
  const chosen = wanted !== undefined && isFree(wanted) ? wanted : dividing
  const series = asked.series === '' ? undefined : chosen
  return { x, y, series, chart: xKind === 'text' || xKind === 'other' ? 'bars' : chart }
}

/** The rows as lines over one axis; values of the same place are averaged, and it is said. */
export function plotData(choice: PlotChoice, kinds: ColumnKinds, rows: readonly Row[]): PlotData {
  const { x, y, series, chart } = choice
  const isTime = kinds.get(x) === 'time'
  const notes: string[] = []
  const placeOf = (row: Row): number | string | undefined => {
    const value = row[x]
    if (value === null || value === undefined) return chart === 'bars' ? 'none' : undefined
    if (chart === 'bars') return isTime ? String(value) : textOf(value)
    const at = isTime ? Date.parse(String(value)) / 1000 : Number(value)
    return Number.isFinite(at) ? at : undefined
  }
  const sums = new Map<string, Map<number | string, { sum: number; count: number }>>()
  const places = new Set<number | string>()
  let without = 0
  let isAveraged = false
  for (const row of rows) {
    const place = placeOf(row)
    const value = row[y]
    if (place === undefined || typeof value !== 'number') {
      without++
      continue
    }
    const name = series === undefined ? y : textOf(row[series])
    const line = sums.get(name) ?? new Map()
    sums.set(name, line)
    const known = line.get(place)
    isAveraged ||= known !== undefined
    line.set(place, { sum: (known?.sum ?? 0) + value, count: (known?.count ?? 0) + 1 })
    places.add(place)
  }
  const sorted = [...places]
  if (chart !== 'bars') sorted.sort((a, b) => Number(a) - Number(b))
  const xs = chart === 'bars' ? sorted.slice(0, mostCategories) : sorted
  const lines = [...sums].slice(0, mostSeries).map(([name, line]) => ({
    name,
    values: xs.map((place) => {
      const found = line.get(place)
      return found ? found.sum / found.count : null
    }),
  }))
  if (xs.length < sorted.length) notes.push(`the first ${xs.length} of ${sorted.length} bars`)
  if (lines.length < sums.size) notes.push(`the first ${lines.length} of ${sums.size} ${series}`)
  if (isAveraged) notes.push('means of the rows that have the same place')
  if (without > 0) notes.push(`${counted(without, 'row has', 'rows have')} no ${y} or no ${x}`)
  return { ...choice, isTime, xs, lines, notes }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  return typeof value === 'string' ? value : writeExactJson(value)
}
