/** One service over one data directory, which exports to a cluster or not: what it takes in, and how far the cluster is behind. */
import { setTimeout as wait } from 'node:timers/promises'
import { type Cluster, clusterName } from '../../test/cluster/cluster.ts'
import { niceness } from '../../workers/thread-priority.ts'
import { BatchReader, type DataFile } from '../peers/generator/data-file.ts'
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

const database = 'assay'
const clients = 4
const workers = 2
const lookEveryMs = 200

export class MeasuredService {
  readonly #process: AssayProcess
  readonly #cluster: Cluster | undefined

  private constructor(process: AssayProcess, cluster: Cluster | undefined) {
    this.#process = process
    this.#cluster = cluster
  }

  static async start({ server, directory, cluster }: ServiceOptions): Promise<MeasuredService> {
    const environment = cluster && {
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
    return new MeasuredService(process, cluster)
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
        const { lag } = await this.#status()
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
      const { state, fault } = await this.#status()
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
    return { service: cpuMs(pid), exports: niceCpuMs(pid, niceness.exports), nodes }
  }

  async #status(): Promise<ExportStatus> {
    const { url, key } = this.#process
    const response = await fetch(`${url}/admin/status`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const status = (await response.json()) as { readonly export: ExportStatus }
    return status.export
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

/** Empties the cluster, for another service to have it. */
export async function dropAll(cluster: Cluster): Promise<void> {
  for (const node of cluster.nodes) {
    await cluster.ask(node, `DROP DATABASE IF EXISTS ${database} SYNC`)
  }
}
