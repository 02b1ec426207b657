/** All that is measured at one number of rows. */
import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { IngestReport } from './ingest.ts'
import type { Turns } from './measure/alternate.ts'
import { type ColdRun, measureCold } from './measure/cold.ts'
import { type ColumnScan, columnScan } from './measure/column-scan.ts'
import { MemoryWatch } from './measure/process-status.ts'
import { type LoadedPeer, type Prepared, type PrepareOptions, prepare } from './prepare.ts'
import { note } from './report/progress.ts'
import type { Phase, QueryResult } from './report/query-result.ts'
import { type Summary, summarize } from './report/ratios.ts'
import { Suite } from './suite.ts'
import type { Layout } from './systems/system.ts'

export interface MeasureOptions extends PrepareOptions {
  readonly turns: Turns
  readonly filter: readonly string[] | undefined
  /** Whether first queries without the page cache are measured, too. */
  readonly cold: boolean
}

export interface PeersReport {
  readonly rows: number
  readonly jsonBytes: number
  readonly workers: number
  readonly clickhouse: string | undefined
  readonly summary: Readonly<Record<Phase, Summary>>
  /** Of the machine in the minute before the queries and in their last one: far above the cores when others work on it. */
  readonly load: readonly number[]
  readonly ingest: IngestReport | undefined
  readonly peerLoads: Readonly<Partial<Record<Layout, LoadedPeer>>>
  /** Bytes on disk by part. */
  readonly sizes: Readonly<Partial<Record<Layout, Readonly<Record<string, number>>>>>
  /** The most memory without mapped files that the service had during the queries after its restart. */
  readonly peakAnonymousBytes: number | undefined
  readonly columnScan: ColumnScan | undefined
  readonly cold: readonly ColdRun[] | undefined
  readonly results: readonly QueryResult[]
}

/** How long nobody asks anything before a first ask. */
const idleMs = 10_000

export async function measurePeers(options: MeasureOptions): Promise<PeersReport> {
  const { rows, workers } = options
  note(`\n${rows} rows`)
  const asked = options.loads === 'anew' ? await askAfterLoad(options) : undefined
  return measured(await prepare({ ...options, loads: 'once' }), async (prepared) => {
    const { data, assay, systems, loaded } = prepared
    const suite = asked ?? new Suite({ ...options, data })
    const memory = assay && new MemoryWatch(assay.process.pid)
    const loadBefore = loadavg()[0]!
    await pause(idleMs)
    await suite.first('afterRestart', prepared)
    await suite.early(prepared)
    await suite.warm(prepared)
    memory?.stop()
    const load = [loadBefore, loadavg()[0]!]
    const sizes: Partial<Record<Layout, Record<string, number>>> = {}
    for (const system of systems) sizes[system.layout] = await system.size()
    const scan = assay && (await columnScan(assay, rows, workers))
    await assay?.close()
    const start = { server: options.server, directory: prepared.assayDirectory, workers }
    const cold = options.cold && assay ? await measureCold(start, data, options.filter) : undefined
    const { results } = suite
    return {
      rows,
      jsonBytes: data.bytes,
      workers,
      clickhouse: prepared.clickhouseVersion,
      summary: {
        afterLoad: summarize(results, 'afterLoad'),
        afterRestart: summarize(results, 'afterRestart'),
        early: summarize(results, 'early'),
        warm: summarize(results, 'warm'),
      },
      load,
      ingest: loaded.assay,
      peerLoads: loaded.peers,
      sizes,
      peakAnonymousBytes: memory?.peakBytes,
      columnScan: scan,
      cold,
      results,
    }
  })
}

/** Loads Assay, and asks the process that was loaded. */
async function askAfterLoad(options: MeasureOptions): Promise<Suite> {
  return measured(await prepare(options), async (prepared) => {
    const suite = new Suite({ ...options, data: prepared.data })
    // Who was asked while it was loaded is asked for the first time no more.
    if (options.asksBesideInserts) return suite
    await pause(idleMs)
    await suite.first('afterLoad', prepared)
    return suite
  })
}

/** Closes all systems once something is measured. */
async function measured<Result>(
  prepared: Prepared,
  measure: (prepared: Prepared) => Promise<Result>,
): Promise<Result> {
  try {
    return await measure(prepared)
  } finally {
    await prepared.close()
  }
}
