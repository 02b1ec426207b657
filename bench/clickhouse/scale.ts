/** The bench's queries where all rows are hot, half of them, and none: how long they take, and what comes from the cluster. */
import { createHash } from 'node:crypto'
import type { Cluster } from '../../test/cluster/cluster.ts'
import type { DataFile } from '../peers/generator/data-file.ts'
import { allQueries, textsOf } from '../peers/queries/all-queries.ts'
import { ConstantSource } from '../peers/queries/constants.ts'
import type { PeerQuery } from '../peers/queries/peer-query.ts'
import { note } from '../peers/report/progress.ts'
import { formatMs, formatTable, median } from '../table.ts'
import { clusterBytes, type HotRows, MeasuredService } from './measure.ts'

export interface HeldReport {
  readonly hot: 'all' | 'half' | 'none'
  readonly hotRows: number
  /** Row versions whose bodies the cluster alone has. */
  readonly coldRows: number
  /** Of the data directory, and of the nodes' disks. */
  readonly directoryBytes: number
  readonly clusterBytes: number
  readonly queries: readonly QueryReport[]
}

interface QueryReport {
  readonly name: string
  /** Milliseconds of each ask. */
  readonly times: readonly number[]
  /** For the last ask. */
  readonly statements: number
  readonly sentRows: number
  readonly sentBytes: number
  /** Why it has no answer, or not that of the state that was asked first. */
  readonly fault?: string
}

export interface ScaleOptions {
  readonly server: string
  readonly cluster: Cluster
  readonly directory: string
  readonly data: DataFile
  readonly project: string
  /** How often each query is asked, with other constants each time; the first is told by itself. */
  readonly asks: number
}

/** The data directory has all rows, and the cluster, too. Afterwards the directory has no bodies any more. */
export async function* measureScale(options: ScaleOptions): AsyncGenerator<HeldReport> {
  const { server, cluster, directory } = options
  const answers = new Map<string, string>()
  let segmentBytes = 0
  for (const hot of ['all', 'half', 'none'] as const) {
    const hotRows: HotRows | undefined =
      hot === 'all' ? undefined : hot === 'half' ? { bytes: segmentBytes / 2 } : { days: 0 }
    const service = await MeasuredService.start({ server, directory, cluster, hotRows })
    try {
      await service.arrived()
      await service.flushed()
      if (hotRows) await service.evicted(await service.held())
      else await service.idle()
      const held = await service.held()
      if (hot === 'all') segmentBytes = held.segmentBytes
      const queries = await askAll(service, options, hot, answers)
      yield { hot, ...held, clusterBytes: await clusterBytes(cluster), queries }
    } finally {
      await service.stop()
    }
  }
}

async function askAll(
  service: MeasuredService,
  options: ScaleOptions,
  hot: string,
  answers: Map<string, string>,
): Promise<QueryReport[]> {
  const constants = new ConstantSource(options.data)
  const reports: QueryReport[] = []
  for (const query of allQueries) {
    const report = await askEach(service, query, { ...options, constants }, answers)
    const { times, sentBytes, fault = '' } = report
    note(
      `${hot} rows hot: ${query.name}: ${times.map(formatMs).join(', ')} ms, ${sentBytes} bytes ${fault}`,
    )
    reports.push(report)
  }
  return reports
}

async function askEach(
  service: MeasuredService,
  query: PeerQuery,
  { project: projectId, asks, constants }: ScaleOptions & { readonly constants: ConstantSource },
  answers: Map<string, string>,
): Promise<QueryReport> {
  const { name } = query
  const times: number[] = []
  let [statements, sentRows, sentBytes] = [0, 0, 0]
  const faults: string[] = []
  for (let number = 0; number < asks; number++) {
    const body = textsOf(query, { constants, number, projectId })('assay')
    const begin = performance.now()
    try {
      const asked = await service.ask(body)
      ;({ statements, sentRows, sentBytes } = asked)
      const answer = digestOf(query.isOrdered ? asked.rows : [...asked.rows].sort())
      const key = `${name} ${number}`
      const first = answers.get(key)
      if (first === undefined) answers.set(key, answer)
      else if (first !== answer) faults.push(`another answer to ask ${number}`)
    } catch (error) {
      faults.push(`ask ${number}: ${(error as Error).message}`)
    }
    times.push(performance.now() - begin)
  }
  const fault = faults.length > 0 ? { fault: faults.join('; ') } : {}
  return { name, times, statements, sentRows, sentBytes, ...fault }
}

function digestOf(rows: readonly string[]): string {
  const hash = createHash('sha256')
  for (const row of rows) hash.update(row).update('\n')
  return hash.digest('hex')
}

export function scaleText(reports: readonly HeldReport[]): string {
  const held = reports.map((report) => [
    report.hot,
    String(report.hotRows),
    String(report.coldRows),
    (report.directoryBytes / 1e6).toFixed(0),
    (report.clusterBytes / 1e6).toFixed(0),
  ])
  const lines = allQueries.map(({ name }, i) => [
    name,
    ...reports.flatMap(({ queries }) => [
      formatMs(queries[i]!.times[0]!),
      formatMs(median(queries[i]!.times.slice(1))),
      formatKilobytes(queries[i]!.sentBytes),
    ]),
  ])
  const head = reports.flatMap(({ hot }) => [`${hot}: first ms`, 'later ms', 'kB'])
  return `${formatTable([['hot', 'hot rows', 'cold rows', 'MB here', 'MB on nodes'], ...held])}\n\n${formatTable([['query', ...head], ...lines])}`
}

/** Queries without an answer, or with another one than before. */
export function faultsOf(reports: readonly HeldReport[]): readonly string[] {
  return reports.flatMap(({ hot, queries }) =>
    queries.flatMap(({ name, fault }) => (fault ? [`${hot} rows hot: ${name}: ${fault}`] : [])),
  )
}

function formatKilobytes(bytes: number): string {
  return bytes === 0 ? '-' : (bytes / 1e3).toFixed(bytes < 1e4 ? 1 : 0)
}
