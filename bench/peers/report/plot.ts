/** The results of one phase as a picture: a row for each query, a dot for each system, time on a log scale. */

import type { Layout } from '../systems/system.ts'
import type { Phase, QueryResult } from './query-result.ts'
import { duelOf, msOf } from './ratios.ts'
import { formatRatio } from './table.ts'

const styles: Readonly<Record<Layout, { name: string; color: string }>> = {
  'duckdb-json': { name: 'DuckDB, JSON', color: '#d9b44a' },
  'clickhouse-json': { name: 'ClickHouse, JSON', color: '#9bc3e6' },
  duckdb: { name: 'DuckDB, typed', color: '#b8860b' },
  clickhouse: { name: 'ClickHouse, typed', color: '#1f6fb5' },
  assay: { name: 'Assay', color: '#c0264b' },
}

const drawn = Object.keys(styles) as Layout[]
const rowHeight = 20
const left = 300
const width = 1000
const right = 70
const top = 64

export function plot(title: string, results: readonly QueryResult[], phase: Phase): string {
  const all = results.flatMap(({ phases }) => (phases[phase] ?? []).map(({ ms }) => ms))
  const low = Math.floor(Math.log10(Math.min(...all)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...all))))
  const scale = (width - left - right) / (high - low)
  const x = (ms: number) => (left + (Math.log10(ms) - low) * scale).toFixed(1)
  const height = top + results.length * rowHeight + 16
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
      `width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${xmlText(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="12" y="20" font-size="14" font-weight="600" fill="#1a1a1a">${xmlText(title)}</text>`,
    ...legend(results, phase),
  ]
  for (let power = low; power <= high; power++) {
    const at = x(10 ** power)
    parts.push(
      `<line x1="${at}" y1="${top - 6}" x2="${at}" y2="${height - 12}" stroke="#dddddd"/>`,
      `<text x="${at}" y="${top - 10}" text-anchor="middle" fill="#666666">${label(power)}</text>`,
    )
  }
  for (const [i, result] of results.entries()) {
    parts.push(...row(result, phase, top + i * rowHeight + rowHeight / 2, x))
  }
  return `${[...parts, '</svg>'].join('\n')}\n`
}

function row(result: QueryResult, phase: Phase, y: number, x: (ms: number) => string): string[] {
  const typed = duelOf(result, phase)?.ratio
  const parts = [
    `<text x="${left - 10}" y="${y + 4}" text-anchor="end" fill="#1a1a1a">${xmlText(result.name)}</text>`,
    `<line x1="${left}" y1="${y}" x2="${width - right}" y2="${y}" stroke="#f0f0f0"/>`,
  ]
  for (const layout of drawn) {
    const ms = msOf(result, phase, layout)
    if (ms === undefined) continue
    const radius = layout === 'assay' ? 5 : 4
    parts.push(`<circle cx="${x(ms)}" cy="${y}" r="${radius}" fill="${styles[layout].color}"/>`)
  }
  if (typed !== undefined) {
    const color = typed < 1 ? '#c0264b' : '#1a1a1a'
    parts.push(
      `<text x="${width - right + 10}" y="${y + 4}" fill="${color}">${formatRatio(typed)}×</text>`,
    )
  }
  return parts
}

function legend(results: readonly QueryResult[], phase: Phase): string[] {
  const shown = [...drawn].reverse().filter((layout) => results.some((r) => msOf(r, phase, layout)))
  return shown.flatMap((layout, i) => {
    const { name, color } = styles[layout]
    const at = left + i * 135
    return [
      `<circle cx="${at}" cy="34" r="4" fill="${color}"/>`,
      `<text x="${at + 9}" y="38" fill="#1a1a1a">${name}</text>`,
    ]
  })
}

function label(power: number): string {
  return power >= 3 ? `${10 ** (power - 3)} s` : `${Number((10 ** power).toPrecision(1))} ms`
}

function xmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
