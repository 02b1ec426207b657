/** `npm run bench:serve`: see bench/README.md. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeMachine } from '../machine.ts'
import { formatMs, formatTable, median } from '../table.ts'
import { measureExports } from './export.ts'
import { measureLeaving } from './leave.ts'
import { databasePath, loadData } from './load-data.ts'
import { type LoadResult, runLoad } from './load-generator.ts'
import { ServerProcess } from './server-process.ts'
import { scanOf, type Target, type Workload, workloads } from './workloads.ts'

const usage = `npm run bench:serve -- [options]

  --only PART       load, which needs wrk; leave or export, which need --data (load)
  --data DIRECTORY  of the service that the peers' bench has loaded
  --rows N          rows of the large experiment          (1000000)
  --dir DIRECTORY   keeps the data there, for the next run with as many rows
  --seconds N       of each measured run                  (5)
  --runs N          of each workload, in turns; of each query or format (3)
  --workers N       threads, of DuckDB as well            (2)
  --connections N   that are open at once in the last one (2000)
  --filter TEXT     workloads, queries or formats whose name has the text
  --server FILE     the built main.js                     (dist/src/main.js)
  --help`

const key = 'sk-bench-serve-0123456789'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: 'load' },
    data: { type: 'string' },
    rows: { type: 'string', default: '1000000' },
    dir: { type: 'string' },
    seconds: { type: 'string', default: '5' },
    runs: { type: 'string', default: '3' },
    workers: { type: 'string', default: '2' },
    connections: { type: 'string', default: '2000' },
    filter: { type: 'string', default: '' },
    server: { type: 'string', default: 'dist/src/main.js' },
    help: { type: 'boolean', default: false },
  },
})

interface Served extends Target {
  readonly name: 'assay' | 'duckdb'
  readonly process: ServerProcess
}

interface Report {
  readonly name: string
  readonly goal: Workload['goal']
  readonly assay: LoadResult
  readonly duckdb: LoadResult
}

if (flags.help) process.stdout.write(`${usage}\n`)
else if (flags.only === 'load') await measure()
else if (flags.data === undefined) throw new Error(`--only ${flags.only} needs --data`)
else {
  const { server, data: directory, filter } = flags
  const options = {
    server,
    directory,
    filter,
    runs: Number(flags.runs),
    workers: Number(flags.workers),
  }
  if (flags.only === 'leave') await measureLeaving(options)
  else if (flags.only === 'export') await measureExports(options)
  else throw new Error(`there is no part named ${flags.only}`)
}

async function measure(): Promise<void> {
  const [rows, seconds, runs] = [Number(flags.rows), Number(flags.seconds), Number(flags.runs)]
  const directory = flags.dir ?? mkdtempSync(join(tmpdir(), 'assay-serve-'))
  mkdirSync(directory, { recursive: true })
  const systems: Served[] = []
  try {
    const assay = await startAssay(directory)
    systems.push(assay)
    const data = await loadData(directory, rows, { url: assay.process.url, key })
    systems.push(await startDuckdb(directory))
    let scans = 0
    const nextScan = () => scanOf(data, ++scans)
    const reports: Report[] = []
    for (const workload of workloads(data)) {
      if (!workload.name.includes(flags.filter)) continue
      const results: Record<Served['name'], LoadResult[]> = { assay: [], duckdb: [] }
      for (let run = 0; run <= runs; run++) {
        for (const system of systems) {
          const stop = new AbortController()
          const scanners = Array.from({ length: workload.scanners }, () =>
            scanUntil(system, () => nextScan()[system.name], stop.signal),
          )
          const { connections } = workload
          const load = { url: system.process.url, path: system.path, headers: system.headers }
          const bodies = workload[system.name]
          const result = await runLoad({ ...load, bodies, connections, seconds }, directory)
          stop.abort()
          await Promise.all(scanners)
          // The first run warms up.
          if (run > 0) results[system.name].push(result)
        }
      }
      const report = {
        name: workload.name,
        goal: workload.goal,
        assay: middle(results.assay),
        duckdb: middle(results.duckdb),
      }
      reports.push(report)
      process.stdout.write(`${line(report)}\n`)
    }
    const open = Number(flags.connections)
    const answered = await answeredAtOnce(assay, workloads(data)[0]!.assay, open)
    process.stdout.write(`\n${table(reports)}\n\n`)
    process.stdout.write(
      `${answered} of ${open} connections that were open at once were answered\n`,
    )
    if (flags.filter !== '') return
    const results = new URL(`../results/serve-${rows}.json`, import.meta.url)
    const report = { machine: describeMachine(), rows, seconds, reports, open, answered }
    mkdirSync(new URL('.', results), { recursive: true })
    writeFileSync(results, `${JSON.stringify(report, undefined, 2)}\n`)
  } finally {
    for (const system of systems) await system.process.stop()
    if (flags.dir === undefined) rmSync(directory, { recursive: true })
  }
}

async function startAssay(directory: string): Promise<Served> {
  const data = ['--data-dir', join(directory, 'assay'), '--port', '0', '--workers', flags.workers]
  const process = await ServerProcess.start('assay', [flags.server, 'serve', ...data], directory, {
    ASSAY_BOOTSTRAP_KEY: key,
  })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return { name: 'assay', process, path: '/btql', headers }
}

async function startDuckdb(directory: string): Promise<Served> {
  const loader = new URL('../../test/support/typescript-loader.js', import.meta.url).href
  const main = new URL('duckdb-server.ts', import.meta.url).pathname
  const args = ['--import', loader, main, databasePath(directory), flags.workers]
  const process = await ServerProcess.start('duckdb', args, directory)
  return { name: 'duckdb', process, path: '/sql', headers: { 'content-type': 'application/json' } }
}

/** Asks for scans, one after the other. */
async function scanUntil(
  { process, path, headers }: Served,
  nextBody: () => string,
  signal: AbortSignal,
) {
  while (!signal.aborted) {
    const body = nextBody()
    const response = await fetch(process.url + path, { method: 'POST', headers, body })
    const text = await response.text()
    if (!response.ok) throw new Error(`a scan failed: ${text}`)
  }
}

/** Opens so many connections, then asks on each of them, and counts those that are answered. */
async function answeredAtOnce(
  { process, path, headers }: Served,
  bodies: readonly string[],
  count: number,
): Promise<number> {
  const { hostname, port } = new URL(process.url)
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname)
      await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
      return socket
    }),
  )
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const answers = await Promise.all(
    sockets.map(async (socket, i) => {
      const body = bodies[i % bodies.length]!
      const length = Buffer.byteLength(body)
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\n${lines.join('')}content-length: ${length}\r\n\r\n${body}`,
      )
      return new Promise<boolean>((resolve) => {
        socket.once('data', (data) => resolve(data.toString().startsWith('HTTP/1.1 200')))
        socket.once('error', () => resolve(false))
        socket.once('close', () => resolve(false))
      })
    }),
  )
  for (const socket of sockets) socket.destroy()
  return answers.filter(Boolean).length
}

/** The run of median throughput, with the errors of all. */
function middle(results: readonly LoadResult[]): LoadResult {
  const rate = median(results.map(({ requestsPerSecond }) => requestsPerSecond))
  const distance = ({ requestsPerSecond }: LoadResult) => Math.abs(requestsPerSecond - rate)
  const run = [...results].sort((a, b) => distance(a) - distance(b))[0]!
  return { ...run, errors: results.reduce((sum, { errors }) => sum + errors, 0) }
}

function line({ name, assay, duckdb }: Report): string {
  const ratio = assay.requestsPerSecond / duckdb.requestsPerSecond
  return `${name}: ${assay.requestsPerSecond.toFixed(0)}/s, ${ratio.toFixed(1)} times DuckDB's`
}

function table(reports: readonly Report[]): string {
  const head = [
    '',
    'req/s',
    'p50 ms',
    'p99 ms',
    'max ms',
    'errors',
    'goal',
    'DuckDB req/s',
    'p99 ms',
    '×',
  ]
  const rows = reports.map(({ name, goal, assay, duckdb }) => [
    name,
    assay.requestsPerSecond.toFixed(0),
    formatMs(assay.p50Ms),
    formatMs(assay.p99Ms),
    formatMs(assay.maxMs),
    String(assay.errors),
    goalOf(goal),
    duckdb.requestsPerSecond.toFixed(0),
    formatMs(duckdb.p99Ms),
    (assay.requestsPerSecond / duckdb.requestsPerSecond).toFixed(1),
  ])
  return formatTable([head, ...rows])
}

function goalOf({ requestsPerSecond, p99Ms }: Workload['goal']): string {
  const parts = [
    ...(requestsPerSecond > 0 ? [`${requestsPerSecond}/s`] : []),
    ...(Number.isFinite(p99Ms) ? [`p99 ${p99Ms} ms`] : []),
  ]
  return parts.join(', ')
}
