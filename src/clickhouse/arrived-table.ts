/**
 * What each replica has, in a table of its own that nothing replicates: up to which transaction of which round. Whoever reads
 * has that looked at within the query, by the replica that answers: one that is behind, or that was put back, gives no rows.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { ClickHouseCluster } from './cluster.ts'
import type { ClickHouseNode } from './connection.ts'

/** How long replicas are waited for that get rows from others. Whoever takes longer is noted later. */
const syncMs = 500

interface Arrived {
  readonly round: string
  readonly through: string
}

/** A condition that is true on replicas that have all, and a fault (`ReplicaBehind`) on others; the parameters are the query's. */
export function arrivedCondition(database: string): string {
  // A subquery of IN is run where the rows are; one that is a value is run by the node that is asked.
  return `0 IN (SELECT throwIf(if(argMax(round, at) = {round:String}, argMax(through, at), 0) < {arrivedThrough:UInt64}, 'behind') FROM ${database}.arrived)`
}

export class ArrivedTable {
  readonly #cluster: ClickHouseCluster
  readonly #table: string
  /** What was noted of the nodes in the round. */
  readonly #noted = new Map<ClickHouseNode, number>()
  #round = ''
  /** Of replicas that are still at it. */
  readonly #underWay = new Set<ClickHouseNode>()

  constructor(cluster: ClickHouseCluster) {
    this.#cluster = cluster
    this.#table = `${cluster.settings.database}.arrived`
  }

  /** Notes on each replica that nothing of the round has arrived. */
  async begin(round: string): Promise<void> {
    this.#enter(round)
    await this.#cluster.onNodes((node) => this.#write(node, round, 0))
  }

  /**
   * Notes on replicas that have all up to `through` that they do. Returns up to which transaction each shard has a replica
   * that has all.
   */
  async note(round: string, through: number): Promise<number> {
    this.#enter(round)
    const noteAt = async (node: ClickHouseNode) => {
      await this.#write(node, round, through)
      if (this.#round === round) this.#noted.set(node, through)
    }
    if (!this.#cluster.isReplicated) {
      await this.#cluster.onNodes(noteAt)
      return through
    }
    const free = this.#cluster.nodes.filter(({ node }) => !this.#underWay.has(node))
    const work = free.map(({ node }) => this.#whenSynced(node, () => noteAt(node)))
    const late = new AbortController()
    await Promise.race([
      Promise.all(work).finally(() => late.abort()),
      wait(syncMs, undefined, { signal: late.signal }).catch(() => undefined),
    ])
    return this.#leastOfShards()
  }

  /** Whether some replica is not noted to have all up to `through`. */
  isAnyBehind(through: number): boolean {
    return this.#cluster.nodes.some(({ node }) => (this.#noted.get(node) ?? 0) < through)
  }

  /**
   * Whether a node has less than it was noted to have, as after its disk was put back. One that knows nothing has lost the
   * table, and is noted anew.
   */
  async hasLost(round: string, through: number): Promise<boolean> {
    if (through === 0 || this.#cluster.isReplicated) return false
    const found = await this.#cluster.onNodes((node) =>
      node.rows<Arrived>(`SELECT round, through FROM ${this.#table} ORDER BY at DESC LIMIT 1`),
    )
    return found
      .flat()
      .some((arrived) => arrived.round !== round || Number(arrived.through) < through)
  }

  #enter(round: string): void {
    if (this.#round === round) return
    this.#round = round
    this.#noted.clear()
  }

  async #whenSynced(node: ClickHouseNode, then: () => Promise<void>): Promise<void> {
    this.#underWay.add(node)
    try {
      const { database } = this.#cluster.settings
      await node.run(`SYSTEM SYNC REPLICA ${database}.records_local LIGHTWEIGHT`)
      await then()
    } catch {
      // It is behind, which queries see, and tried again with the next.
    } finally {
      this.#underWay.delete(node)
    }
  }

  #leastOfShards(): number {
    const { nodes } = this.#cluster
    const most = new Map<number, number>()
    for (const { node, shard } of nodes) {
      most.set(shard, Math.max(most.get(shard) ?? 0, this.#noted.get(node) ?? 0))
    }
    return Math.min(...most.values())
  }

  /** Later than all that was noted, whatever the node's clock does. */
  #write(node: ClickHouseNode, round: string, through: number): Promise<void> {
    return node.run(
      `INSERT INTO ${this.#table} SELECT '${round}', ${through},
        greatest(now64(6), (SELECT max(at) FROM ${this.#table}) + INTERVAL 1 MICROSECOND)`,
    )
  }
}
