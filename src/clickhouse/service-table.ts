/**
 * Which service the database belongs to, and how far it has exported, in the table `service` of all nodes. The first that
 * claims the database has it. Of one service the process that started last has it: an older one, perhaps of a copied data
 * directory, stops.
 */
import { randomUUID } from 'node:crypto'
import type { ClickHouseCluster } from './cluster.ts'
import type { ClickHouseNode } from './connection.ts'
import { ExportFault } from './fault.ts'

interface Said {
  readonly name: string
  readonly service: string
  readonly value: string
  /** In microseconds since 1970. */
  readonly at: string
}

export class ServiceTable {
  readonly #cluster: ClickHouseCluster
  readonly #service: string
  readonly #session: string

  constructor(cluster: ClickHouseCluster, service: string, session: string) {
    this.#cluster = cluster
    this.#service = service
    this.#session = session
  }

  static newSession(): string {
    return randomUUID()
  }

  /** Throws when the database is another service's. Each node knows afterwards, also one that had lost it. */
  async claim(): Promise<void> {
    this.#requireOwn(await this.#said())
    await this.#cluster.onNodes((node) => this.#sayOnce(node, 'claim'))
    this.#requireOwn(await this.#said())
    await this.#cluster.onNodes((node) => this.#say(node, 'session', this.#session))
  }

  /** Throws when the database is another service's, or another process of this one has it. */
  async check(): Promise<void> {
    const said = await this.#said()
    this.#requireOwn(said)
    const sessions = said.filter(
      ({ name, service }) => name === 'session' && service === this.#service,
    )
    const last = sessions.toSorted((a, b) => compare(b.at, a.at))[0]
    if (last === undefined || last.value === this.#session) return
    throw new ExportFault(
      'owned',
      `another process exports to ${this.#database} for this service since ${timeOf(last.at)}: it has a copy of the data directory. End it, then start this one again`,
    )
  }

  /** Says that all transactions up to `through` have arrived. */
  async noteExported(through: number): Promise<void> {
    await this.#cluster.onReachable((node) => this.#say(node, 'exported', String(through)))
  }

  /** Which service the database belongs to; undefined when it does to none. */
  async owner(): Promise<string | undefined> {
    return firstClaim(await this.#said())?.service
  }

  /** The transaction up to which the nodes say that all have arrived; 0 when none does. */
  async exported(): Promise<number> {
    const said = await this.#said()
    const own = said.filter(({ name, service }) => name === 'exported' && service === this.#service)
    return Math.max(0, ...own.map(({ value }) => Number(value)))
  }

  get #database(): string {
    return this.#cluster.settings.database
  }

  #requireOwn(said: readonly Said[]): void {
    const first = firstClaim(said)
    if (first === undefined || first.service === this.#service) return
    throw new ExportFault(
      'owned',
      `the database ${this.#database} belongs to another service since ${timeOf(first.at)} (${first.service}): choose another by ASSAY_CLICKHOUSE_DATABASE, or drop it if that service is no more; if it is this one, whose clickhouse.json was lost, "assay clickhouse verify --repair --take-over" goes on with it`,
    )
  }

  /** What any of the nodes that answer has. */
  async #said(): Promise<Said[]> {
    const rows = await this.#cluster.onReachable((node) =>
      node.rows<Said>(
        `SELECT name, service, value, toUnixTimestamp64Micro(at) AS at FROM ${this.#database}.service FINAL`,
      ),
    )
    return rows.flat()
  }

  /** Later than all that was said, whatever the node's clock does. */
  async #say(node: ClickHouseNode, name: string, value: string, where = ''): Promise<void> {
    const table = `${this.#database}.service`
    await node.run(
      `INSERT INTO ${table} SELECT '${name}', '${this.#service}', '${value}',
        greatest(now64(6), (SELECT max(at) FROM ${table}) + INTERVAL 1 MICROSECOND) ${where}`,
    )
  }

  /** Unless the node knows already. */
  #sayOnce(node: ClickHouseNode, name: string): Promise<void> {
    const known = `SELECT count() FROM ${this.#database}.service WHERE name = '${name}' AND service = '${this.#service}'`
    return this.#say(node, name, '', `WHERE (${known}) = 0`)
  }
}

function firstClaim(said: readonly Said[]): Said | undefined {
  const claims = said.filter(({ name }) => name === 'claim')
  return claims.toSorted((a, b) => compare(a.at, b.at) || (a.service < b.service ? -1 : 1))[0]
}

function compare(a: string, b: string): number {
  return Number(BigInt(a) - BigInt(b))
}

function timeOf(micros: string): string {
  return new Date(Number(micros) / 1000).toISOString()
}
