/** Runs the same queries in Assay and in DuckDB, in turns, and compares times and answers. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstDifference } from '../../test/support/same-answer.ts'
import { formatMs, formatTable, median } from '../table.ts'
import { type Loaded, type LoadReport, load } from './load.ts'
import { type QueryBenchmark, queryBenchmarks } from './queries.ts'

export interface QueryBenchOptions {
  readonly rows: number
  /** Where data is kept from run to run. Without it, a temporary directory that is removed. */
  readonly directory: string | undefined
  readonly runs: number
  readonly workers: number
  /** Part of the names of the queries to run. */
  readonly filter: string | undefined
}

export interface QueryResult {
  readonly name: string
  readonly assayMs: number
  readonly duckdbMs: number
  /** How many times as long DuckDB takes. */
  readonly speedup: number
  /** The first run of ours, before anything was warm. */
  readonly firstMs: number
  readonly difference: string | undefined
}

export interface QueryBenchReport {
  readonly load: LoadReport
  readonly results: readonly QueryResult[]
}

const warmups = 2

export async function runQueries(options: QueryBenchOptions): Promise<QueryBenchReport> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'assay-bench-'))
  try {
    const loaded = await load(directory, options.rows, options.workers)
    try {
      return await measureAll(loaded, options)
    } finally {
      loaded.duckdb.close()
      await loaded.store.close()
    }
  } finally {
    if (options.directory === undefined) rmSync(directory, { recursive: true, force: true })
  }
}

async function measureAll(loaded: Loaded, options: QueryBenchOptions): Promise<QueryBenchReport> {
  const { report } = loaded
  printLoad(report)
  const results: QueryResult[] = []
  for (const benchmark of queryBenchmarks(report.knownId)) {
    if (options.filter !== undefined && !benchmark.name.includes(options.filter)) continue
    results.push(await measure(loaded, benchmark, options.runs))
  }
  printResults(results)
  return { load: report, results }
}

async function measure(
  { store, duckdb }: Loaded,
  benchmark: QueryBenchmark,
  runs: number,
): Promise<QueryResult> {
  const shape = benchmark.shape ? ` ${benchmark.shape}` : ''
  const query = `from: project_logs('${store.projectId}')${shape}\n${benchmark.query}`
  const columnar = { useColumnstore: benchmark.useColumnstore ?? true }
  const ours = () => store.askBytes(query, columnar)
  const theirs = () => duckdb.consume(benchmark.sql)

  const firstMs = await time(ours)
  const difference = firstDifference(
    pick(await store.ask(query, columnar), benchmark.compared),
    pick(await duckdb.rows(benchmark.sql), benchmark.compared),
  )
  const [assayTimes, duckdbTimes]: [number[], number[]] = [[], []]
  for (let run = -warmups; run < runs; run++) {
    const assayMs = await time(ours)
    const duckdbMs = await time(theirs)
    if (run < 0) continue
    assayTimes.push(assayMs)
    duckdbTimes.push(duckdbMs)
  }
  const [assayMs, duckdbMs] = [median(assayTimes), median(duckdbTimes)]
  const speedup = duckdbMs / assayMs
  return { name: benchmark.name, assayMs, duckdbMs, speedup, firstMs, difference }
}

/** Both systems start from a collected heap, if node runs with --expose-gc. */
async function time(work: () => Promise<unknown>): Promise<number> {
  globalThis.gc?.()
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

function pick(rows: readonly unknown[], names: readonly string[] | undefined): unknown[] {
  if (names === undefined) return [...rows]
  return rows.map((row) => names.map((name) => (row as Record<string, unknown>)[name]))
}

function printLoad(report: LoadReport): void {
  const seconds = report.insertMs / 1000
  const megabytes = report.bytes / 1e6
  console.log(
    `${report.rows} rows, ${megabytes.toFixed(0)} MB of JSON: inserted in ${seconds.toFixed(1)} s, ` +
      `${Math.round(report.rows / seconds)} rows/s, ${(megabytes / seconds).toFixed(1)} MB/s; ` +
      `then flushed in ${(report.flushMs / 1000).toFixed(1)} s, ` +
      `compacted in ${(report.compactMs / 1000).toFixed(1)} s\n`,
  )
}

function printResults(results: readonly QueryResult[]): void {
  const head = ['query', 'Assay ms', 'DuckDB ms', 'times faster', 'first run ms', 'answer']
  const rows = results.map((result) => [
    result.name,
    formatMs(result.assayMs),
    formatMs(result.duckdbMs),
    result.speedup.toFixed(2),
    formatMs(result.firstMs),
    result.difference === undefined ? 'same' : 'WRONG',
  ])
  console.log(formatTable([head, ...rows]))
  for (const { name, difference } of results) {
    if (difference !== undefined) console.error(`\nWRONG: ${name}: ${difference}`)
  }
}
