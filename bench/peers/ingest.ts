/** Loads the rows over HTTP as clients would, and records how that goes while the store grows. */
import { BatchReader, type DataFile, rowsPerBatch } from './generator/data-file.ts'
import { percentile } from './measure/percentile.ts'
import { anonymousBytes, cpuMs } from './measure/process-status.ts'
import { note, showProgress } from './report/progress.ts'
import type { Assay } from './systems/assay.ts'
import type { Run } from './systems/system.ts'

/** One stretch of the curve. */
export interface IngestPoint extends BatchTimes {
  /** Of the service at its end, without mapped files. */
  readonly anonymousBytes: number
}

interface BatchTimes {
  /** Rows that the store had at its end. */
  readonly rows: number
  readonly megabytesPerSecond: number
  readonly batchP50Ms: number
  readonly batchP99Ms: number
  readonly batchMaxMs: number
}

/** A query that was asked beside the inserts. */
export interface Probe {
  readonly name: string
  /** Medians of the last third of the load, and of the store at rest after it, asked with the same pauses. */
  readonly busyMs: number
  readonly idleMs: number
  /** Whether its count of rows was at least that of the acknowledged ones, each time. */
  readonly isFresh: boolean
}

export interface IngestReport extends BatchTimes {
  readonly bytes: number
  readonly seconds: number
  /** From the last insert until flushing and compaction have come to rest. */
  readonly settleSeconds: number
  /** Time on processors that the service took for all of it, its queries included. */
  readonly cpuSeconds: number
  readonly curve: readonly IngestPoint[]
  readonly probes: readonly Probe[]
}

const connections = 4
const rowsPerPoint = 100_000
const probePauseMs = 1000
const idleRuns = 15

/** Assay must have been started with more connections than this loads over: one is the probe's. */
export const ingestConnections = connections + 1

export interface IngestOptions {
  /** MB/s that clients send; as fast as they are answered by default. */
  readonly insertRate?: number | undefined
  /** Whether a few queries are asked meanwhile, and once all is at rest. */
  readonly asksBesideInserts?: boolean | undefined
}

export async function ingest(
  assay: Assay,
  data: DataFile,
  { insertRate = Number.POSITIVE_INFINITY, asksBesideInserts = false }: IngestOptions,
): Promise<IngestReport> {
  const reader = new BatchReader(data)
  const path = `/v1/project_logs/${assay.projectId}/insert`
  const prober = new Prober(assay)
  const latencies: number[] = []
  const curve: IngestPoint[] = []
  let [next, acknowledged, sentBytes, pointBytes, pointFrom] = [0, 0, 0, 0, 0]
  const cpuBefore = cpuMs(assay.process.pid)
  const begin = performance.now()
  let pointBegin = begin

  const client = async () => {
    while (next < reader.count) {
      const body = reader.body(next++)
      const due = begin + sentBytes / 1000 / insertRate
      sentBytes += body.length
      const early = due - performance.now()
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early))
      const sent = performance.now()
      await assay.client.post(path, body)
      latencies.push(performance.now() - sent)
      acknowledged++
      prober.acknowledgedRows = Math.min(acknowledged * rowsPerBatch, data.rows)
      pointBytes += body.length
      const rows = prober.acknowledgedRows
      if (rows % rowsPerPoint === 0 || rows === data.rows) {
        const now = performance.now()
        const reached = timesOf(rows, pointBytes, now - pointBegin, latencies.slice(pointFrom))
        curve.push({ ...reached, anonymousBytes: anonymousBytes(assay.process.pid) })
        note(
          `inserted ${rows} rows: ${reached.megabytesPerSecond.toFixed(1)} MB/s, ` +
            `batches p99 ${reached.batchP99Ms.toFixed(0)} ms`,
        )
        pointBegin = now
        pointBytes = 0
        pointFrom = latencies.length
      }
      if (acknowledged % 20 === 0) showProgress(`inserting: ${rows} of ${data.rows} rows`)
    }
  }
  const probing = asksBesideInserts ? prober.run() : undefined
  await Promise.all(Array.from({ length: connections }, client))
  const inserted = performance.now()
  prober.stop()
  await probing
  reader.close()
  note('inserted; waiting for flush and compaction')
  await settle(assay)
  const settled = performance.now()
  const all = timesOf(data.rows, data.bytes, inserted - begin, latencies)
  return {
    ...all,
    bytes: data.bytes,
    seconds: (inserted - begin) / 1000,
    settleSeconds: (settled - inserted) / 1000,
    cpuSeconds: (cpuMs(assay.process.pid) - cpuBefore) / 1000,
    curve,
    probes: asksBesideInserts ? await prober.report() : [],
  }
}

function timesOf(rows: number, bytes: number, ms: number, latencies: number[]): BatchTimes {
  return {
    rows,
    megabytesPerSecond: bytes / 1000 / ms,
    batchP50Ms: percentile(latencies, 0.5),
    batchP99Ms: percentile(latencies, 0.99),
    batchMaxMs: Math.max(...latencies),
  }
}

/** Asks a few queries again and again, with pauses. */
class Prober {
  acknowledgedRows = 0
  readonly #assay: Assay
  readonly #queries: ReadonlyMap<string, string>
  readonly #times = new Map<string, number[]>()
  #isFresh = true
  #isStopped = false

  constructor(assay: Assay) {
    this.#assay = assay
    const source = `from: project_logs('${assay.projectId}')`
    const request = (query: string) =>
      JSON.stringify({ query: `${query}\n${source}`, use_columnstore: true })
    this.#queries = new Map([
      ['count', request('measures: count(1) as n')],
      [
        'group by model',
        request(
          'dimensions: metadata.model as model\nmeasures: count(1) as n, avg(metrics.tokens) as tokens',
        ),
      ],
      ['latest 20 rows', request('select: *\nlimit: 20')],
    ])
    for (const name of this.#queries.keys()) this.#times.set(name, [])
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      await new Promise((resolve) => setTimeout(resolve, probePauseMs))
      if (this.#isStopped) break
      const least = this.acknowledgedRows
      for (const [name, { ms, rows }] of await this.#askAll()) {
        this.#times.get(name)!.push(ms)
        if (name === 'count' && !(Number(rows()[0]?.n) >= least)) this.#isFresh = false
      }
    }
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Measures the same queries at rest, with the same pauses: what a processor does meanwhile leaves nothing in its caches. */
  async report(): Promise<Probe[]> {
    const idle = new Map<string, number[]>()
    for (let run = 0; run < idleRuns; run++) {
      await new Promise((resolve) => setTimeout(resolve, probePauseMs))
      for (const [name, { ms }] of await this.#askAll()) {
        idle.set(name, [...(idle.get(name) ?? []), ms])
      }
    }
    return [...this.#times].map(([name, times]) => {
      const busy = times.slice(Math.floor((times.length * 2) / 3))
      return {
        name,
        busyMs: percentile(busy, 0.5),
        idleMs: percentile(idle.get(name)!, 0.5),
        isFresh: this.#isFresh,
      }
    })
  }

  async #askAll(): Promise<readonly (readonly [string, Run])[]> {
    const answers: [string, Run][] = []
    for (const [name, query] of this.#queries) answers.push([name, await this.#assay.run(query)])
    return answers
  }
}

const settledChecks = 5
const checkPauseMs = 1000
/** A process that does nothing else may still collect garbage. */
const idleShare = 0.05

/** Waits until all is flushed and the service has no more work of its own. Asks no query, which would warm it up. */
export async function settle(assay: Assay): Promise<void> {
  let quiet = 0
  let [cpu, at, segments] = [cpuMs(assay.process.pid), performance.now(), -1]
  while (quiet < settledChecks) {
    await new Promise((resolve) => setTimeout(resolve, checkPauseMs))
    const [cpuNow, now] = [cpuMs(assay.process.pid), performance.now()]
    const isIdle = cpuNow - cpu < (now - at) * idleShare
    const metrics = await assay.metrics(['assay_delta_rows', 'assay_segments'])
    const [unflushed, segmentsNow] = metrics
    quiet = isIdle && unflushed === 0 && segmentsNow === segments ? quiet + 1 : 0
    segments = segmentsNow!
    ;[cpu, at] = [cpuMs(assay.process.pid), performance.now()]
    showProgress(`settling: ${segments} segments`)
  }
}
