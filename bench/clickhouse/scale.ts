/** The bench's queries where all rows are hot, half of them, and none: how long they take, and what comes from the cluster. */
import type { Cluster } from '../../test/cluster/cluster.ts'
import type { DataFile } from '../peers/generator/data-file.ts'
import { allQueries, textsOf } from '../peers/queries/all-queries.ts'
import { ConstantSource } from '../peers/queries/constants.ts'
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
  readonly firstMs: number
  readonly laterMs: number
  /** What the nodes have sent for the last ask: statements, rows, bytes. */
  readonly statements: number
  readonly rows: number
  readonly bytes: number
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
export async function measureScale(options: ScaleOptions): Promise<HeldReport[]> {
  const { server, cluster, directory } = options
  const reports: HeldReport[] = []
  const answers = new Map<string, string>()
  let segmentBytes = 0
  for (const hot of ['all', 'half', 'none'] as const) {
    const hotRows: HotRows | undefined =
      hot === 'all' ? undefined : hot === 'half' ? { bytes: segmentBytes / 2 } : { days: 0 }
    const service = await MeasuredService.start({ server, directory, cluster, hotRows })
    try {
      await service.arrived()
      await service.flushed()
      const held = hotRows ? await service.evicted() : await service.held()
      if (hot === 'all') segmentBytes = held.segmentBytes
      const queries = await askAll(service, options, hot, answers)
      reports.push({ hot, ...held, clusterBytes: await clusterBytes(cluster), queries })
    } finally {
      await service.stop()
    }
  }
  return reports
}

async function askAll(
  service: MeasuredService,
  { data, project: projectId, asks }: ScaleOptions,
  hot: string,
  answers: Map<string, string>,
): Promise<QueryReport[]> {
  const constants = new ConstantSource(data)
  const reports: QueryReport[] = []
  for (const query of allQueries) {
    const times: number[] = []
    for (let number = 0; number < asks; number++) {
      const body = textsOf(query, { constants, number, projectId })('assay')
      const { rows, ms } = await service.ask(body)
      times.push(ms)
      const name = `${query.name} ${number}`
      const before = answers.get(name)
      const now = query.isOrdered ? rows.join('\n') : [...rows].sort().join('\n')
      if (before === undefined) answers.set(name, now)
      else if (before !== now)
        throw new Error(`${name} has another answer where ${hot} rows are hot`)
    }
    const last = textsOf(query, { constants, number: asks, projectId })('assay')
    const sent = await service.sentFor(last)
    const [firstMs = 0, ...later] = times
    reports.push({ name: query.name, firstMs, laterMs: median(later), ...sent })
    note(
      `${hot} rows hot: ${query.name}: ${times.map(formatMs).join(', ')} ms, ${sent.bytes} bytes`,
    )
  }
  return reports
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
      formatMs(queries[i]!.firstMs),
      formatMs(queries[i]!.laterMs),
      formatKilobytes(queries[i]!.bytes),
    ]),
  ])
  const head = reports.flatMap(({ hot }) => [`${hot}: first ms`, 'later ms', 'kB'])
  return `${formatTable([['hot', 'hot rows', 'cold rows', 'MB here', 'MB on nodes'], ...held])}\n\n${formatTable([['query', ...head], ...lines])}`
}

function formatKilobytes(bytes: number): string {
  return bytes === 0 ? '-' : (bytes / 1e3).toFixed(bytes < 1e4 ? 1 : 0)
}
