/** All that is measured at one number of rows. */
import { loadavg } from 'node:os'
import type { IngestReport } from './ingest.ts'
import type { Turns } from './measure/alternate.ts'
import { type ColdRun, measureCold } from './measure/cold.ts'
import { type ColumnScan, columnScan } from './measure/column-scan.ts'
import { MemoryWatch } from './measure/process-status.ts'
import { type LoadedPeer, type PrepareOptions, prepare } from './prepare.ts'
import { note } from './report/progress.ts'
import { type Summary, summarize } from './report/ratios.ts'
import { type QueryResult, runSuite, selectQueries } from './suite.ts'
import type { Layout } from './systems/system.ts'

export interface MeasureOptions extends PrepareOptions {
  readonly turns: Turns
  readonly filter: readonly string[] | undefined
  /** Whether first queries are measured, too. */
  readonly cold: boolean
}

export interface PeersReport {
  readonly rows: number
  readonly jsonBytes: number
  readonly workers: number
  readonly clickhouse: string | undefined
  readonly summary: Summary
  /** Of the machine in the minute before the queries and in their last one: far above the cores when others work on it. */
  readonly load: readonly number[]
  readonly ingest: IngestReport | undefined
  readonly peerLoads: Readonly<Partial<Record<Layout, LoadedPeer>>>
  /** Bytes on disk by part. */
  readonly sizes: Readonly<Partial<Record<Layout, Readonly<Record<string, number>>>>>
  /** The most memory without mapped files that the service had during the queries. */
  readonly peakAnonymousBytes: number | undefined
  readonly columnScan: ColumnScan | undefined
  readonly cold: readonly ColdRun[] | undefined
  readonly results: readonly QueryResult[]
}

export async function measurePeers(options: MeasureOptions): Promise<PeersReport> {
  const { rows, workers, turns, filter } = options
  note(`\n${rows} rows`)
  const prepared = await prepare(options)
  const { data, systems, assay, loaded } = prepared
  const measured = await (async () => {
    try {
      const memory = assay && new MemoryWatch(assay.process.pid)
      const projectId = assay?.projectId ?? ''
      const loadBefore = loadavg()[0]!
      const results = await runSuite({ systems, projectId, data, turns, filter })
      memory?.stop()
      const load = [loadBefore, loadavg()[0]!]
      const sizes: Partial<Record<Layout, Record<string, number>>> = {}
      for (const system of systems) sizes[system.layout] = await system.size()
      const scan = assay && (await columnScan(assay, rows, workers))
      return { results, load, sizes, columnScan: scan, peakAnonymousBytes: memory?.peakBytes }
    } finally {
      await prepared.close()
    }
  })()
  const start = { server: options.server, directory: prepared.assayDirectory, workers }
  const isCold = options.cold && assay !== undefined
  return {
    rows,
    jsonBytes: data.bytes,
    workers,
    clickhouse: prepared.clickhouseVersion,
    summary: summarize(measured.results),
    ingest: loaded.assay,
    peerLoads: loaded.peers,
    cold: isCold ? await measureCold(start, selectQueries({ data, filter })) : undefined,
    ...measured,
  }
}
