/** One service over one data directory, which exports to a cluster or not: what it takes in, and how far the cluster is behind. */
import { setTimeout as wait } from 'node:timers/promises'
import { type Cluster, clusterName } from '../../test/cluster/cluster.ts'
import { niceness } from '../../workers/thread-priority.ts'
import { BatchReader, type DataFile } from '../peers/generator/data-file.ts'
import { directorySizes } from '../peers/measure/directory-size.ts'
import { percentile } from '../peers/measure/percentile.ts'
import { cpuMs, niceCpuMs } from '../peers/measure/process-status.ts'
import { AssayClient } from '../peers/systems/assay-client.ts'
import { AssayProcess } from '../peers/systems/assay-process.ts'

export interface ServiceOptions {
  /** The built `main.js`. */
  readonly server: string
  readonly directory: string
  /** Where it exports to; undefined: it does not. */
  readonly cluster: Cluster | undefined
  /** What the data directory keeps; all when not given. */
  readonly hotRows?: HotRows | undefined
}

export interface HotRows {
  readonly days?: number
  readonly bytes?: number
}

/** Where rows are. */
export interface Held {
  readonly hotRows: number
  /** Row versions whose bodies the cluster alone has. */
  readonly coldRows: number
  readonly directoryBytes: number
  readonly segmentBytes: number
}

export interface InsertReport {
  readonly megabytesPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface LagReport {
  /** The most that was seen while rows came. */
  readonly transactions: number
  readonly rows: number
  readonly seconds: number
  /** From the last answer until all had arrived. */
  readonly afterSeconds: number
}

export interface ExportReport {
  /** Of JSON, as it was inserted. */
  readonly megabytesPerSecond: number
  /** Processor time of the service, of its threads that export, and of the nodes. */
  readonly cpuMsPerMegabyte: number
  readonly exportMsPerMegabyte: number
  readonly nodesMsPerMegabyte: number
}

interface ExportStatus {
  readonly state: string
  readonly lag: {
    readonly transactions: number
    readonly rows: number
    readonly seconds: number
  }
  readonly fault: { readonly message: string } | null
}

interface ServiceStatus {
  readonly export: ExportStatus
  readonly storage: {
    readonly hot: { readonly rows: number }
    readonly cold: { readonly rows: number }
  }
}

interface Asked {
  /** Of the answer, each as JSON. */
  readonly rows: readonly string[]
  /** Of the cluster: how many were made, and what its nodes sent. */
  readonly statements: number
  readonly sentRows: number
  readonly sentBytes: number
}

interface AuditedAnswer {
  readonly data: readonly unknown[]
  readonly audit_log: readonly { event: string; rows: number; bytes: number }[]
}

const database = 'assay'
const idleMs = 5000
/** Of one core: nodes always write down how they are. */
const idleShare = 0.2
const clients = 4
const workers = 2
const lookEveryMs = 200

export class MeasuredService {
  readonly #process: AssayProcess
  readonly #cluster: Cluster | undefined

  readonly #directory: string

  private constructor(process: AssayProcess, cluster: Cluster | undefined, directory: string) {
    this.#process = process
    this.#cluster = cluster
    this.#directory = directory
  }

  static async start(options: ServiceOptions): Promise<MeasuredService> {
    const { server, directory, cluster, hotRows } = options
    const environment = cluster && {
      ...(hotRows?.days !== undefined && { ASSAY_HOT_DAYS: String(hotRows.days) }),
      ...(hotRows?.bytes !== undefined && { ASSAY_HOT_BYTES: String(Math.round(hotRows.bytes)) }),
      ASSAY_CLICKHOUSE: cluster.nodes.map((node) => cluster.urlOf(node)).join(','),
      ASSAY_CLICKHOUSE_CLUSTER: clusterName,
      ASSAY_CLICKHOUSE_DATABASE: database,
    }
    const process = await AssayProcess.start({
      server,
      directory,
      workers,
      ...(environment && { environment }),
    })
    return new MeasuredService(process, cluster, directory)
  }

  stop(): Promise<void> {
    return this.#process.stop()
  }

  async makeProject(): Promise<string> {
    const project = await this.#withClient(1, (client) =>
      client.postJson('/v1/project', { name: 'export' }),
    )
    return String(project.id)
  }

  /** Batches of a thousand rows from four clients, each acknowledged when it is durable. */
  async insert(data: DataFile, project: string): Promise<InsertReport> {
    const reader = new BatchReader(data)
    const latencies: number[] = []
    let next = 0
    try {
      const begin = performance.now()
      await this.#withClient(clients, async (client) => {
        const one = async () => {
          while (next < reader.count) {
            const body = reader.body(next++)
            const sent = performance.now()
            await client.post(`/v1/project_logs/${project}/insert`, body)
            latencies.push(performance.now() - sent)
          }
        }
        await Promise.all(Array.from({ length: clients }, one))
      })
      const seconds = (performance.now() - begin) / 1000
      return {
        megabytesPerSecond: data.bytes / 1e6 / seconds,
        p50Ms: percentile(latencies, 0.5),
        p99Ms: percentile(latencies, 0.99),
      }
    } finally {
      reader.close()
    }
  }

  /** Looks how far the cluster is behind while `work` goes on, and waits until it has all. */
  async lagDuring<Result>(
    work: () => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly lag: LagReport }> {
    let isOver = false
    let [transactions, rows, seconds] = [0, 0, 0]
    const look = async () => {
      while (!isOver) {
        const { lag } = (await this.#status()).export
        transactions = Math.max(transactions, lag.transactions)
        rows = Math.max(rows, lag.rows)
        seconds = Math.max(seconds, lag.seconds)
        await wait(lookEveryMs)
      }
    }
    const looking = look()
    let result: Result
    try {
      result = await work()
    } finally {
      isOver = true
      await looking
    }
    const begin = performance.now()
    await this.arrived()
    const afterSeconds = (performance.now() - begin) / 1000
    return { result, lag: { transactions, rows, seconds, afterSeconds } }
  }

  /** Resolves when the cluster has all. Throws when something keeps the export waiting. */
  async arrived(): Promise<void> {
    for (;;) {
      const { state, fault } = (await this.#status()).export
      if (fault) throw new Error(fault.message)
      if (state === 'current') return
      await wait(lookEveryMs)
    }
  }

  /** Waits until the cluster has all of `bytes` of JSON, of which it has nothing. */
  async exportAll(bytes: number): Promise<ExportReport> {
    const before = this.#cpu()
    const begin = performance.now()
    await this.arrived()
    const seconds = (performance.now() - begin) / 1000
    const after = this.#cpu()
    const megabytes = bytes / 1e6
    return {
      megabytesPerSecond: megabytes / seconds,
      cpuMsPerMegabyte: (after.service - before.service) / megabytes,
      exportMsPerMegabyte: (after.exports - before.exports) / megabytes,
      nodesMsPerMegabyte: (after.nodes - before.nodes) / megabytes,
    }
  }

  #cpu() {
    const nodes = (this.#cluster?.pids ?? []).reduce((sum, pid) => sum + cpuMs(pid), 0)
    const { pid } = this.#process
    return { service: cpuMs(pid), exports: niceCpuMs(pid, niceness.copies), nodes }
  }

  /** Resolves when bodies have left the data directory since `before`, and no more do. */
  async evicted(before: Held): Promise<void> {
    while ((await this.held()).coldRows === before.coldRows) await wait(lookEveryMs)
    await this.idle()
  }

  /** Resolves when all rows are in segments. */
  async flushed(): Promise<void> {
    const { url, key } = this.#process
    const headers = { authorization: `Bearer ${key}` }
    for (;;) {
      const metrics = await (await fetch(`${url}/metrics`, { headers })).text()
      if (/^assay_delta_rows 0$/m.test(metrics)) return
      await wait(lookEveryMs)
    }
  }

  /** Resolves when neither the service nor the nodes are at work on their own. */
  async idle(): Promise<void> {
    for (;;) {
      const before = this.#cpu()
      await wait(idleMs)
      const after = this.#cpu()
      const busyMs = after.service - before.service + after.nodes - before.nodes
      if (busyMs < idleMs * idleShare) return
    }
  }

  async held(): Promise<Held> {
    const { storage } = await this.#status()
    const bytes = directorySizes(this.#directory)
    return {
      hotRows: storage.hot.rows,
      coldRows: storage.cold.rows,
      directoryBytes: Object.values(bytes).reduce((total, each) => total + each, 0),
      segmentBytes: bytes.segments ?? 0,
    }
  }

  /** The answer to a query, and what the nodes sent for it. */
  async ask(body: string): Promise<Asked> {
    const audited = JSON.stringify({ ...(JSON.parse(body) as object), audit_log: true })
    const answer = await this.#withClient(1, (client) => client.post('/btql', audited))
    const { data, audit_log: events } = JSON.parse(answer.toString()) as AuditedAnswer
    const statements = events.filter(({ event }) => event.startsWith('cluster'))
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
    return {
      rows: data.map((row) => JSON.stringify(row)),
      statements: statements.length,
      sentRows: sum(statements.map(({ rows }) => rows)),
      sentBytes: sum(statements.map(({ bytes }) => bytes)),
    }
  }

  async #status(): Promise<ServiceStatus> {
    const { url, key } = this.#process
    const response = await fetch(`${url}/admin/status`, {
      headers: { authorization: `Bearer ${key}` },
    })
    return (await response.json()) as ServiceStatus
  }

  async #withClient<Result>(
    connections: number,
    use: (client: AssayClient) => Promise<Result>,
  ): Promise<Result> {
    const { url, key } = this.#process
    const client = new AssayClient({ url, key, connections })
    try {
      return await use(client)
    } finally {
      client.close()
    }
  }
}

/** Whether each node has the rows of `data` once, and nothing else. */
export async function hasAll(cluster: Cluster, { rows }: DataFile): Promise<boolean> {
  const counts = await Promise.all(
    cluster.nodes.map((node) =>
      cluster.ask<{ readonly n: string; readonly different: string }>(
        node,
        `SELECT count() AS n, uniqExact(object, version) AS different FROM ${database}.records`,
      ),
    ),
  )
  return counts.every(([row]) => Number(row!.n) === rows && Number(row!.different) === rows)
}

/** On the disks of all nodes. */
export async function clusterBytes(cluster: Cluster): Promise<number> {
  const sql = `SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE database = '${database}' AND active`
  const sums = await Promise.all(
    cluster.nodes.map((node) => cluster.ask<{ readonly bytes: string }>(node, sql)),
  )
  return sums.reduce((total, [row]) => total + Number(row!.bytes), 0)
}

/** Empties the cluster, for another service to have it. */
export async function dropAll(cluster: Cluster): Promise<void> {
  for (const node of cluster.nodes) {
    await cluster.ask(node, `DROP DATABASE IF EXISTS ${database} SYNC`)
  }
}
