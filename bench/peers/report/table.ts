/** The results as tables of Markdown. */
import { formatMs } from '../../table.ts'
import { type Phase, phases, type QueryResult } from './query-result.ts'
import { duelOf, isWrong, msOf, type Summary } from './ratios.ts'

export const titles: Readonly<Record<Phase, string>> = {
  afterLoad: 'first ask after a load',
  afterRestart: 'first ask after a restart',
  early: 'asks 2 to 8',
  warm: 'after a hundred asks',
}

/** How many times as fast as the faster typed peer each query is in each phase, and the milliseconds of both. */
export function resultTable(results: readonly QueryResult[]): string {
  const head = ['query', ...phases.map((phase) => titles[phase]), 'answers']
  const rows = results.map((result) => {
    const cells = phases.map((phase) => cellOf(result, phase))
    return [result.name, ...cells, isWrong(result) ? 'WRONG' : 'same']
  })
  return markdownTable([head, ...rows])
}

function cellOf(result: QueryResult, phase: Phase): string {
  const duel = duelOf(result, phase)
  const ms = msOf(result, phase, 'assay')
  if (duel === undefined) return ms === undefined ? '–' : formatMs(ms)
  return `${formatRatio(duel.ratio)}× (${formatMs(duel.ms)} : ${formatMs(duel.peerMs)})`
}

/** What was measured of one query in one phase, by system. */
export function resultLine(result: QueryResult, phase: Phase): string {
  const times = result.phases[phase] ?? []
  const systems = times.map(({ layout, ms, asks }) => {
    return `${layout} ${formatMs(ms)}${asks > 1 ? ` (${asks})` : ''}`
  })
  return `${result.name}: ${systems.join(', ')} ms; ${formatRatio(duelOf(result, phase)?.ratio)}×`
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

export function summaryTable(summaries: Readonly<Record<Phase, Summary>>): string {
  const head = ['', '× typed', 'behind', 'behind by most', '× JSON']
  const rows = phases.map((phase) => {
    const { typedGeometricMean, jsonGeometricMean, behind, widestGap } = summaries[phase]
    const gap = widestGap ? `${formatMs(widestGap.ms)} ms, ${widestGap.name}` : '–'
    const [typed, json] = [typedGeometricMean, jsonGeometricMean].map(formatRatio)
    return [titles[phase], typed!, String(behind ?? '–'), gap, json!]
  })
  return markdownTable([head, ...rows])
}

export function formatRatio(ratio: number | undefined): string {
  if (ratio === undefined) return '–'
  if (ratio < 0.1) return ratio.toPrecision(1)
  return ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0)
}
