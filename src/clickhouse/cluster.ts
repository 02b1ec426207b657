/** The nodes of the cluster, as one of them knows it. */
import { setTimeout as wait } from 'node:timers/promises'
import { ClickHouseNode } from './connection.ts'
import { ExportFault } from './fault.ts'
import type { ClickHouseSettings } from './settings.ts'

/** The index of words needs it. */
const leastVersion = [26, 2] as const

/** While something is under way, whether the nodes it needs still answer: more than one answer in a row has to be missing. */
const watchEveryMs = 2000
const mostMissing = 2

export interface ShardNode {
  readonly node: ClickHouseNode
  readonly shard: number
}

interface ListedNode {
  readonly host_name: string
  readonly shard_num: number
  readonly internal_replication: number
}

export class ClickHouseCluster {
  readonly settings: ClickHouseSettings
  readonly nodes: readonly ShardNode[]
  /** Whether Keeper replicates tables: what is done to one replica of a shard comes to the others. */
  readonly isReplicated: boolean
  readonly #control: AbortController
  /** Of the node that takes inserts. */
  #entry = 0

  private constructor(
    settings: ClickHouseSettings,
    nodes: readonly ShardNode[],
    isReplicated: boolean,
    control: AbortController,
  ) {
    this.settings = settings
    this.nodes = nodes
    this.isReplicated = isReplicated
    this.#control = control
  }

  /**
   * Asks the nodes that the settings name, one after the other, for all there are.
   *
   * @param signal ends whatever is under way
   * @param connections to each node, at most
   */
  static async open(
    settings: ClickHouseSettings,
    signal: AbortSignal,
    connections?: number,
  ): Promise<ClickHouseCluster> {
    const control = new AbortController()
    const ending = AbortSignal.any([signal, control.signal])
    let fault: unknown
    for (const url of settings.urls) {
      const node = new ClickHouseNode(url, settings, signal)
      try {
        const newNode = (url: string) => new ClickHouseNode(url, settings, ending, connections)
        return await discover(node, url, settings, newNode, (nodes, isReplicated) => {
          return new ClickHouseCluster(settings, nodes, isReplicated, control)
        })
      } catch (thrown) {
        fault ??= thrown
      } finally {
        await node.close()
      }
    }
    throw fault
  }

  /** Where inserts go. */
  get entry(): ClickHouseNode {
    return this.nodes[this.#entry]!.node
  }

  /** Inserts go to another node from now on. */
  useNext(): void {
    this.#entry = (this.#entry + 1) % this.nodes.length
  }

  /** Whether the name of a table is that of one over all shards. */
  get isSharded(): boolean {
    return this.settings.cluster !== undefined
  }

  /**
   * Ends what is under way once a node does not answer any more that it needs: of a node that was cut off, or has stopped,
   * nothing would be heard until a deadline. The cluster is of no more use then.
   */
  async watched<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = new AbortController()
    const watching = this.#watch(done.signal)
    try {
      return await work()
    } finally {
      done.abort()
      await watching
    }
  }

  async #watch(done: AbortSignal): Promise<void> {
    let missing = 0
    while (!done.aborted && !this.#control.signal.aborted) {
      try {
        await wait(watchEveryMs, undefined, { signal: done })
      } catch {
        return
      }
      // One replica is enough where the others get everything from it.
      const needed = this.isReplicated ? [this.entry] : this.nodes.map(({ node }) => node)
      const outcomes = await Promise.allSettled(needed.map((node) => node.ping()))
      const failed = outcomes.find((each) => each.status === 'rejected')
      missing = failed ? missing + 1 : 0
      if (failed && missing >= mostMissing && !done.aborted) this.#control.abort(failed.reason)
    }
  }

  /** On every node. Throws the first fault after all have ended. */
  async onNodes<Result>(run: (node: ClickHouseNode) => Promise<Result>): Promise<Result[]> {
    const outcomes = await Promise.allSettled(this.nodes.map(({ node }) => run(node)))
    return outcomes.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason
      return outcome.value
    })
  }

  /** On the nodes that answer, of which there must be one. */
  async onReachable<Result>(run: (node: ClickHouseNode) => Promise<Result>): Promise<Result[]> {
    const outcomes = await Promise.allSettled(this.nodes.map(({ node }) => run(node)))
    const results = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    const failed = outcomes.find((each) => each.status === 'rejected')
    if (results.length === 0 && failed) throw failed.reason
    return results
  }

  /**
   * Changes what tables of the nodes hold: on every node or, where they are replicated, on one of each shard, which
   * has all by then.
   */
  async change(table: string, statement: string): Promise<void> {
    if (!this.isReplicated) {
      await this.onNodes((node) => node.run(statement))
      return
    }
    const shards = new Set(this.nodes.map(({ shard }) => shard))
    await Promise.all(
      [...shards].map((number) => {
        const replicas = this.nodes.filter(({ shard }) => shard === number)
        return changeOne(replicas, table, statement)
      }),
    )
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map(({ node }) => node.close()))
  }
}

async function changeOne(
  replicas: readonly ShardNode[],
  table: string,
  statement: string,
): Promise<void> {
  let fault: unknown
  for (const { node } of replicas) {
    try {
      await node.run(`SYSTEM SYNC REPLICA ${table} LIGHTWEIGHT`)
      await node.run(statement)
      return
    } catch (thrown) {
      fault ??= thrown
    }
  }
  throw fault
}

async function discover(
  node: ClickHouseNode,
  url: string,
  settings: ClickHouseSettings,
  newNode: (url: string) => ClickHouseNode,
  make: (nodes: readonly ShardNode[], isReplicated: boolean) => ClickHouseCluster,
): Promise<ClickHouseCluster> {
  await requireVersion(node)
  const { cluster } = settings
  if (cluster === undefined) {
    return make([{ node: newNode(url), shard: 1 }], false)
  }
  const listed = await node.rows<ListedNode>(
    `SELECT host_name, shard_num, internal_replication FROM system.clusters WHERE cluster = '${cluster}' ORDER BY shard_num, replica_num`,
  )
  if (listed.length === 0) throw await noCluster(node, cluster)
  const isReplicated = await hasKeeper(node)
  if (!isReplicated) requireInsertsToAll(node, cluster, listed)
  const nodes = listed.map(({ host_name, shard_num }) => {
    return { node: newNode(urlOf(url, host_name)), shard: shard_num }
  })
  return make(nodes, isReplicated)
}

/** Replicas that nobody replicates would stay empty, and be read. */
function requireInsertsToAll(
  node: ClickHouseNode,
  cluster: string,
  listed: readonly ListedNode[],
): void {
  const shards = new Set(listed.map(({ shard_num }) => shard_num))
  const isLeftToKeeper = listed.some(({ internal_replication }) => internal_replication === 1)
  if (shards.size === listed.length || !isLeftToKeeper) return
  throw new ExportFault(
    'unfit',
    `${node.name} has internal_replication for the cluster "${cluster}", so inserts go to one replica, and no Keeper and macros shard and replica that would bring them to the others: set internal_replication to false in remote_servers, or give the nodes these`,
  )
}

/** The same interface of another host. */
function urlOf(url: string, host: string): string {
  const other = new URL(url)
  other.hostname = host.includes(':') ? `[${host}]` : host
  return other.href.replace(/\/+$/, '')
}

async function requireVersion(node: ClickHouseNode): Promise<void> {
  const [row] = await node.rows<{ readonly version: string }>('SELECT version() AS version')
  const version = row?.version ?? ''
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = leastVersion
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return
  throw new ExportFault(
    'unfit',
    `${node.name} has ClickHouse ${version}, and ${leastVersion.join('.')} or later is needed for indexes of words; update it`,
  )
}

async function noCluster(node: ClickHouseNode, cluster: string): Promise<ExportFault> {
  const rows = await node.rows<{ readonly cluster: string }>(
    'SELECT DISTINCT cluster FROM system.clusters ORDER BY cluster',
  )
  const known = rows.map((row) => row.cluster).join(', ') || 'none'
  return new ExportFault(
    'unfit',
    `${node.name} knows no cluster "${cluster}": name one of its remote_servers by ASSAY_CLICKHOUSE_CLUSTER (${known})`,
  )
}

/** Replicated tables need the macros, too. */
async function hasKeeper(node: ClickHouseNode): Promise<boolean> {
  const [row] = await node.rows<{ readonly keeper: string; readonly macros: string }>(
    `SELECT (SELECT count() FROM system.tables WHERE database = 'system' AND name = 'zookeeper') AS keeper,
      (SELECT count() FROM system.macros WHERE macro IN ('shard', 'replica')) AS macros`,
  )
  return Number(row?.keeper) > 0 && Number(row?.macros) === 2
}
