/** A report as it is printed: Markdown. */
import { formatMs } from '../../table.ts'
import type { IngestReport } from '../ingest.ts'
import type { PeersReport } from '../measure-peers.ts'
import { isWrong, msOf } from './ratios.ts'
import { markdownTable, resultTable, summaryTable } from './table.ts'

export function reportText(report: PeersReport): string {
  const { ingest, peakAnonymousBytes, columnScan, load } = report
  const parts = [
    resultTable(report.results),
    summaryTable(report.summary),
    `${report.results.length} queries, wrong answers of ${report.results.filter(isWrong).length}.`,
    `Load of the machine before and after the queries: ${load.map(formatLoad).join(', ')}.`,
    sizesTable(report),
  ]
  if (peakAnonymousBytes !== undefined) {
    const mebibytes = (peakAnonymousBytes / 2 ** 20).toFixed(0)
    parts.push(`Most memory of the service without mapped files: ${mebibytes} MiB.`)
  }
  if (columnScan !== undefined) {
    const { memoryGbPerSecond, scans } = columnScan
    const times = scans.map(({ name, ms, timesMemory }) => {
      return `${name} ${formatMs(ms)} ms, ${timesMemory.toFixed(1)} times what memory takes`
    })
    parts.push(
      `A double, where memory gives ${memoryGbPerSecond.toFixed(1)} GB/s: ${times.join('; ')}.`,
    )
  }
  if (report.cold !== undefined) parts.push(coldTable(report))
  if (ingest !== undefined) parts.push(...ingestTexts(ingest))
  return parts.join('\n\n')
}

function formatLoad(load: number): string {
  return load.toFixed(1)
}

function sizesTable({ sizes, jsonBytes }: PeersReport): string {
  const rows: string[][] = []
  const line = (layout: string, part: string, bytes: number) => [
    layout,
    part,
    (bytes / 1e6).toFixed(1),
    (bytes / jsonBytes).toFixed(3),
  ]
  for (const [layout, partSizes] of Object.entries(sizes)) {
    const entries = Object.entries(partSizes)
    for (const [part, bytes] of entries) rows.push(line(layout, part, bytes))
    const total = entries.reduce((sum, [, bytes]) => sum + bytes, 0)
    if (entries.length > 1) rows.push(line(layout, 'all', total))
  }
  return markdownTable([['on disk', 'part', 'MB', '× raw JSON'], ...rows])
}

function coldTable({ cold = [], results }: PeersReport): string {
  const rows = cold.map(({ name, ms, isCacheDropped }) => {
    const result = results.find((other) => other.name === name)
    const warm = result && msOf(result, 'warm', 'assay')
    return [
      name,
      formatMs(ms),
      warm === undefined ? '–' : formatMs(warm),
      isCacheDropped ? 'dropped' : 'kept',
    ]
  })
  return markdownTable([['first query', 'cold ms', 'warm ms', 'page cache'], ...rows])
}

function ingestTexts(ingest: IngestReport): string[] {
  const cpuPerMegabyte = (ingest.cpuSeconds * 1e9) / ingest.bytes
  const summary =
    `Inserted at ${ingest.megabytesPerSecond.toFixed(1)} MB/s; batches p50 ` +
    `${formatMs(ingest.batchP50Ms)} ms, p99 ${formatMs(ingest.batchP99Ms)} ms, longest ` +
    `${formatMs(ingest.batchMaxMs)} ms; flushed and compacted ${ingest.settleSeconds.toFixed(0)} s ` +
    `after the last; ${cpuPerMegabyte.toFixed(0)} ms of processor time per MB.`
  const curve = ingest.curve.map((point) => [
    point.rows.toLocaleString('en'),
    point.megabytesPerSecond.toFixed(1),
    formatMs(point.batchP50Ms),
    formatMs(point.batchP99Ms),
    formatMs(point.batchMaxMs),
    (point.anonymousBytes / 2 ** 20).toFixed(0),
  ])
  // Few rows are inserted before a query is asked beside them; what is no number is null in a file.
  const asked = ingest.probes.filter(({ busyMs }) => Number.isFinite(busyMs))
  const probes = asked.map(({ name, busyMs, idleMs, isFresh }) => [
    name,
    formatMs(busyMs),
    formatMs(idleMs),
    (busyMs / idleMs).toFixed(2),
    isFresh ? 'yes' : 'NO',
  ])
  return [
    summary,
    markdownTable([['rows', 'MB/s', 'p50 ms', 'p99 ms', 'longest ms', 'memory MiB'], ...curve]),
    ...(probes.length > 0 ? [markdownTable([probeHead, ...probes])] : []),
  ]
}

const probeHead = ['beside inserts', 'busy ms', 'idle ms', 'slower', 'fresh']
