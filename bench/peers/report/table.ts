/** The results as a table of Markdown. */
import { formatMs } from '../../table.ts'
import type { QueryResult } from '../suite.ts'
import type { Layout } from '../systems/system.ts'
import { msOf, ratiosOf, type Summary } from './ratios.ts'

export const titles: Readonly<Record<Layout, string>> = {
  assay: 'Assay ms',
  duckdb: 'DuckDB typed ms',
  clickhouse: 'ClickHouse typed ms',
  'duckdb-json': 'DuckDB JSON ms',
  'clickhouse-json': 'ClickHouse JSON ms',
}

const layouts = Object.keys(titles) as Layout[]

export function resultTable(results: readonly QueryResult[]): string {
  const shown = layouts.filter((layout) => results.some((result) => msOf(result, layout)))
  const head = ['query', ...shown.map((layout) => titles[layout]), '× typed', '× JSON', 'answer']
  const rows = results.map((result) => {
    const { typed, json } = ratiosOf(result)
    const cells = shown.map((layout) => cellOf(result, layout))
    return [result.name, ...cells, formatRatio(typed), formatRatio(json), verdict(result)]
  })
  return markdownTable([head, ...rows])
}

/** What was measured of one query, while others are still to come. */
export function resultLine(result: QueryResult): string {
  const times = result.times.map(({ layout, ms }) => `${layout} ${formatMs(ms)}`)
  return `${result.name}: ${times.join(', ')} ms; ${formatRatio(ratiosOf(result).typed)}×`
}

/** Rows of cells; the first is the head, and all columns but the first go to the right. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(3, ...rows.map((row) => row[i]!.length)))
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const padded = rows.map((row) =>
    line(row.map((cell, i) => (i === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[i]!)))),
  )
  const rule = line(widths.map((w, i) => (i === 0 ? '-'.repeat(w) : `${'-'.repeat(w - 1)}:`)))
  return [padded[0]!, rule, ...padded.slice(1)].join('\n')
}

export function summaryText(summary: Summary): string {
  const { queries, typedGeometricMean, jsonGeometricMean, below1, wrong } = summary
  return (
    `${queries} queries. Geometric mean: ${formatRatio(typedGeometricMean)}× the faster typed ` +
    `peer, ${formatRatio(jsonGeometricMean)}× the faster JSON peer. ` +
    `Below 1× of the typed: ${below1}. Wrong answers: ${wrong}.`
  )
}

export function formatRatio(ratio: number | undefined): string {
  if (ratio === undefined) return '–'
  if (ratio < 0.1) return ratio.toPrecision(1)
  return ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0)
}

function cellOf(result: QueryResult, layout: Layout): string {
  const ms = msOf(result, layout)
  if (ms === undefined) return '–'
  return result.differences[layout] === undefined ? formatMs(ms) : `${formatMs(ms)} (other)`
}

function verdict({ differences }: QueryResult): string {
  return differences.assay === undefined ? 'same' : 'WRONG'
}
