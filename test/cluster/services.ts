/** The processes of a fault run: a home node that exports to a cluster, and query nodes over it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { type Cluster, clusterName } from './cluster.ts'

export const serviceKey = 'sk-faults-0123456789'
const main = new URL('../../dist/src/main.js', import.meta.url).pathname
const clock = new URL('../support/shifted-clock.js', import.meta.url).href

export class Services {
  readonly #cluster: Cluster
  readonly #directory = mkdtempSync(join(tmpdir(), 'assay-faults-'))
  /** None that the system gives to connections. */
  readonly #port = 20_000 + (process.pid % 10_000)
  /** The home is the first. */
  readonly #processes: (ServeProcess | undefined)[]
  readonly #urls: string[] = []

  /** @param nodes how many query nodes */
  constructor(cluster: Cluster, nodes: number) {
    this.#cluster = cluster
    this.#processes = Array.from({ length: nodes + 1 }, () => undefined)
  }

  get count(): number {
    return this.#processes.length
  }

  /** Where each is, or was last. */
  get urls(): readonly string[] {
    return this.#urls
  }

  get home(): string {
    return this.#urls[0]!
  }

  directoryOf(service: number): string {
    return join(this.#directory, String(service))
  }

  async startNodes(): Promise<void> {
    for (let node = 1; node < this.count; node++) await this.start(node)
  }

  async start(service: number, environment: Record<string, string> = {}): Promise<void> {
    const started = await serveAssay(
      this.directoryOf(service),
      {
        ASSAY_WARM_UP: '0',
        ASSAY_TEST_CLOCK: this.#clockOf(service),
        ...(service === 0 ? this.#homeEnvironment() : this.#nodeEnvironment(service)),
        ...environment,
      },
      service === 0 ? this.#port : 0,
      [process.execPath, '--import', clock, main],
    )
    this.#processes[service] = started
    this.#urls[service] = started.url
  }

  /** `kill -9`. */
  async kill(service: number): Promise<void> {
    const running = this.#processes[service]
    running?.child.kill('SIGKILL')
    await running?.exit
  }

  /** Ends the home in order, and query nodes anyhow. */
  async stop(): Promise<void> {
    for (let node = 1; node < this.count; node++) await this.kill(node)
    this.#processes[0]?.child.kill('SIGTERM')
    await this.#processes[0]?.exit
  }

  async remove(): Promise<void> {
    for (let service = 0; service < this.count; service++) await this.kill(service)
    rmSync(this.#directory, { recursive: true, force: true })
  }

  /** Makes the clock of a service wrong by so many milliseconds, while it runs. */
  setClock(service: number, milliseconds: number): void {
    writeFileSync(this.#clockOf(service), String(milliseconds))
  }

  #clockOf(service: number): string {
    return join(this.#directory, `clock-${service}`)
  }

  /** With query nodes, rows of the home are read of the cluster, and leave it. */
  #homeEnvironment(): Record<string, string> {
    return {
      ASSAY_BOOTSTRAP_KEY: serviceKey,
      ...this.#clickhouse(),
      ...(this.count > 1 && { ASSAY_HOT_DAYS: '0' }),
    }
  }

  /** Nodes read the cluster themselves; of several the last one has all rows itself: answers of both are compared. */
  #nodeEnvironment(node: number): Record<string, string> {
    const hasAll = node > 1 && node === this.count - 1
    const home = { ASSAY_HOME: this.home, ASSAY_HOME_KEY: serviceKey }
    return hasAll ? home : { ...home, ...this.#clickhouse() }
  }

  #clickhouse(): Record<string, string> {
    return {
      ASSAY_CLICKHOUSE: this.#cluster.nodes.map((node) => this.#cluster.urlOf(node)).join(','),
      ASSAY_CLICKHOUSE_CLUSTER: clusterName,
    }
  }
}
