/** `npm run bench:clickhouse`: see bench/README.md. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Cluster, missingForCluster } from '../../test/cluster/cluster.ts'
import { describeMachine } from '../machine.ts'
import { type DataFile, openDataFile } from '../peers/generator/data-file.ts'
import { formatMs, formatTable, median } from '../table.ts'
import {
  dropAll,
  type ExportReport,
  hasAll,
  type InsertReport,
  type LagReport,
  MeasuredService,
} from './measure.ts'
import { faultsOf, type HeldReport, measureScale, scaleText } from './scale.ts'

const usage = `npm run bench:clickhouse -- [options]

  --rows N             spans that are exported while they are inserted, and again at once   (2000000)
  --pairs N            loads without an export and with one, in turns                       (3)
  --pair-rows N        rows of each of these loads                                          (200000)
  --only PART          pairs, load, backfill or scale alone; scale: queries where all rows are hot, half of them, and none
  --asks N             of scale: how often each query is asked                             (5)
  --shards N           of the cluster                                                       (1)
  --replicas N         of each shard                                                        (1)
  --number N           of the cluster among those of this machine                           (1)
  --server FILE        a built main.js                                                      (dist/src/main.js)
  --dir DIRECTORY      keeps the generated rows and the loaded data there
  --help`

const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '2000000' },
    pairs: { type: 'string', default: '3' },
    'pair-rows': { type: 'string', default: '200000' },
    only: { type: 'string' },
    asks: { type: 'string', default: '5' },
    shards: { type: 'string', default: '1' },
    replicas: { type: 'string', default: '1' },
    number: { type: 'string', default: '1' },
    server: { type: 'string', default: 'dist/src/main.js' },
    dir: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

interface Report {
  pairs?: readonly { readonly without: InsertReport; readonly beside: InsertReport }[]
  load?: { readonly insert: InsertReport; readonly lag: LagReport }
  backfill?: ExportReport
  scale?: readonly HeldReport[]
}

const missing = missingForCluster()
if (flags.help) process.stdout.write(`${usage}\n`)
else if (missing === undefined) await measure()
else throw new Error(`there is no cluster, as this machine lacks ${missing}`)

async function measure(): Promise<void> {
  const directory = flags.dir ?? mkdtempSync(join(tmpdir(), 'assay-export-'))
  mkdirSync(directory, { recursive: true })
  const [rows, pairRows] = [Number(flags.rows), Number(flags['pair-rows'])]
  const size = {
    shards: Number(flags.shards),
    replicas: Number(flags.replicas),
    number: Number(flags.number),
  }
  const runs = (part: string) => flags.only === undefined || flags.only === part
  const isLoaded = runs('load') || runs('backfill') || runs('scale')
  const data = isLoaded ? openDataFile(directory, rows) : undefined
  const pairData = runs('pairs') ? openDataFile(directory, pairRows) : undefined
  const cluster = await Cluster.up(size)
  const report: Report = {}
  try {
    if (pairData) {
      report.pairs = await measurePairs(cluster, directory, pairData)
      print(pairTable(report.pairs))
    }
    if (data) {
      const store = join(directory, `exported-${rows}`)
      if (runs('load')) {
        rmSync(store, { recursive: true, force: true })
        report.load = await measureLoad(cluster, store, data)
        print(loadText(report.load))
      }
      if (runs('backfill')) {
        report.backfill = await measureBackfill(cluster, store, data)
        print(backfillText(report.backfill))
      }
      if (runs('scale')) {
        rmSync(store, { recursive: true, force: true })
        const project = await load(cluster, store, data)
        const { server } = flags
        const asks = Number(flags.asks)
        const options = { server, cluster, directory: store, data, project, asks }
        const states: HeldReport[] = []
        report.scale = states
        for await (const state of measureScale(options)) {
          states.push(state)
          save(rows, size, report)
        }
        print(scaleText(states))
        const faults = faultsOf(states)
        if (faults.length > 0) throw new Error(faults.join('\n'))
      }
    }
    save(rows, size, report)
  } finally {
    cluster.down()
    if (flags.dir === undefined) rmSync(directory, { recursive: true })
  }
}

/** Each load into an empty directory. The first pair is not counted: by then the machine has seen both. */
async function measurePairs(cluster: Cluster, directory: string, data: DataFile) {
  const pairs: { without: InsertReport; beside: InsertReport }[] = []
  for (let pair = 0; pair <= Number(flags.pairs); pair++) {
    const without = await loadOnce(undefined, directory, data)
    const beside = await loadOnce(cluster, directory, data)
    if (pair > 0) pairs.push({ without, beside })
  }
  return pairs
}

async function loadOnce(
  cluster: Cluster | undefined,
  directory: string,
  data: DataFile,
): Promise<InsertReport> {
  const store = mkdtempSync(join(directory, 'pair-'))
  if (cluster) await dropAll(cluster)
  const service = await MeasuredService.start({ server: flags.server, directory: store, cluster })
  try {
    const project = await service.makeProject()
    if (cluster) await service.arrived()
    return await service.insert(data, project)
  } finally {
    await service.stop()
    rmSync(store, { recursive: true })
  }
}

async function measureLoad(cluster: Cluster, store: string, data: DataFile) {
  await dropAll(cluster)
  const service = await MeasuredService.start({ server: flags.server, directory: store, cluster })
  try {
    const project = await service.makeProject()
    await service.arrived()
    const { result, lag } = await service.lagDuring(() => service.insert(data, project))
    await requireAll(cluster, data)
    return { insert: result, lag }
  } finally {
    await service.stop()
  }
}

/** Resolves to the project whose logs the cluster has, too. */
async function load(cluster: Cluster, store: string, data: DataFile): Promise<string> {
  await dropAll(cluster)
  const service = await MeasuredService.start({ server: flags.server, directory: store, cluster })
  try {
    const project = await service.makeProject()
    await service.insert(data, project)
    await service.arrived()
    await requireAll(cluster, data)
    return project
  } finally {
    await service.stop()
  }
}

/** Of what was loaded before, by `measureLoad` or without an export. */
async function measureBackfill(
  cluster: Cluster,
  store: string,
  data: DataFile,
): Promise<ExportReport> {
  await dropAll(cluster)
  const service = await MeasuredService.start({ server: flags.server, directory: store, cluster })
  try {
    const report = await service.exportAll(data.bytes)
    await requireAll(cluster, data)
    return report
  } finally {
    await service.stop()
  }
}

async function requireAll(cluster: Cluster, data: DataFile): Promise<void> {
  if (!(await hasAll(cluster, data))) throw new Error('the cluster has not each row once')
}

function pairTable(pairs: NonNullable<Report['pairs']>): string {
  const row = (name: string, report: (pair: (typeof pairs)[number]) => InsertReport) => [
    name,
    median(pairs.map((pair) => report(pair).megabytesPerSecond)).toFixed(1),
    formatMs(median(pairs.map((pair) => report(pair).p50Ms))),
    formatMs(median(pairs.map((pair) => report(pair).p99Ms))),
  ]
  const ratio = median(
    pairs.map(({ without, beside }) => beside.megabytesPerSecond / without.megabytesPerSecond),
  )
  return `${formatTable([
    ['inserts', 'MB/s', 'p50 ms', 'p99 ms'],
    row('without an export', ({ without }) => without),
    row('beside the export', ({ beside }) => beside),
  ])}\nbeside by without, median of ${pairs.length} pairs: ${ratio.toFixed(2)}`
}

function loadText({ insert, lag }: NonNullable<Report['load']>): string {
  return (
    `inserted at ${insert.megabytesPerSecond.toFixed(1)} MB/s, p99 ${formatMs(insert.p99Ms)} ms; behind by ` +
    `${lag.transactions} transactions, ${lag.rows} rows and ${lag.seconds} s at most, ${lag.afterSeconds.toFixed(1)} s after the last insert`
  )
}

function backfillText(report: ExportReport): string {
  return (
    `an existing directory: ${report.megabytesPerSecond.toFixed(1)} MB/s of JSON, ` +
    `${report.cpuMsPerMegabyte.toFixed(1)} ms/MB in the service, of which ` +
    `${report.exportMsPerMegabyte.toFixed(1)} in threads that export, ${report.nodesMsPerMegabyte.toFixed(1)} ms/MB in the nodes`
  )
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`)
}

function save(rows: number, size: object, report: Report): void {
  const path = new URL(`../results/clickhouse-${rows}.json`, import.meta.url)
  mkdirSync(new URL('.', path), { recursive: true })
  const whole = { machine: describeMachine(), rows, cluster: size, ...report }
  writeFileSync(path, `${JSON.stringify(whole, undefined, 2)}\n`)
}
