/**
 * `npm run cluster:faults -- --seconds 300 --seed 1`: the service exports to a cluster while it inserts, merges and deletes, and
 * nodes and the service itself are killed, paused, cut off and slowed down at random; disks are full, tables are altered, and
 * the service has a wrong password for a while. Readers ask the cluster meanwhile
 * at the last transaction that it says has arrived, and compare with what the service answers at that version. At the
 * end every node must have every row version once.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { formatTransaction } from '../../src/type/transaction.ts'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import {
  committedVersions,
  differences,
  exportedVersions,
  replicaVersions,
  type Versions,
} from '../support/exported-records.ts'
import { RandomChoice } from '../support/random-choice.ts'
import { Cluster, clusterName, missingForCluster } from './cluster.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    number: { type: 'string', default: '80' },
  },
})
const seconds = Number(values.seconds)
const seed = Number(values.seed)

const key = 'sk-faults-0123456789'
const database = 'assay'
const main = new URL('../../dist/src/main.js', import.meta.url).pathname
const rowsOfRequest = 100
const ids = 5000
const traces = 700
/** Of a node, which it does not fill by itself. */
const diskMegabytes = 512

const kinds = [
  'kill',
  'cut',
  'pause',
  'slow',
  'service',
  'full',
  'altered',
  'password',
  'sends',
] as const

class FaultRun {
  readonly #cluster: Cluster
  readonly #directory = mkdtempSync(join(tmpdir(), 'assay-faults-'))
  readonly #choice = new RandomChoice(seed)
  #service: ServeProcess | undefined
  #project = ''
  #isOver = false
  readonly #events = new Map<string, number>()
  #acknowledged = 0
  #reads = 0
  #wrongReads = 0
  #refusedReads = 0

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  async run(): Promise<boolean> {
    try {
      await this.#start()
      const { json } = await this.#ask('/v1/project', { name: 'p' })
      this.#project = String(json.id)
      await this.#ask(`/v1/project_logs/${this.#project}/insert`, { events: this.#rows() })
      await this.#arrived()
      const end = wait(seconds * 1000).then(() => {
        this.#isOver = true
      })
      await Promise.all([end, this.#write(), this.#read(), this.#disturb()])
      return await this.#compare()
    } finally {
      this.#service?.child.kill('SIGKILL')
      rmSync(this.#directory, { recursive: true, force: true })
    }
  }

  async #start(environment: Record<string, string> = {}): Promise<void> {
    this.#service = await serveAssay(
      this.#directory,
      {
        ASSAY_BOOTSTRAP_KEY: key,
        ASSAY_WARM_UP: '0',
        ASSAY_CLICKHOUSE: this.#cluster.nodes.map((node) => this.#cluster.urlOf(node)).join(','),
        ASSAY_CLICKHOUSE_CLUSTER: clusterName,
        ...environment,
      },
      0,
      [process.execPath, main],
    )
  }

  async #ask(path: string, body?: object): Promise<{ ok: boolean; json: Record<string, unknown> }> {
    const answer = await fetch(this.#service!.url + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(20_000),
      ...(body && { body: JSON.stringify(body) }),
    })
    return { ok: answer.ok, json: (await answer.json()) as Record<string, unknown> }
  }

  #rows(): object[] {
    return Array.from({ length: rowsOfRequest }, () => {
      const id = `r${this.#choice.below(ids)}`
      const kind = this.#choice.below(10)
      if (kind === 0) return { id, _object_delete: true }
      const metadata = { n: this.#choice.below(1000) }
      if (kind === 1) return { id, _is_merge: true, metadata }
      const trace = `t${this.#choice.below(traces)}`
      const input = 'words of a row '.repeat(1 + this.#choice.below(20))
      return { id, span_id: id, root_span_id: trace, input, metadata }
    })
  }

  async #write(): Promise<void> {
    while (!this.#isOver) {
      const body = { events: this.#rows() }
      try {
        const { ok } = await this.#ask(`/v1/project_logs/${this.#project}/insert`, body)
        if (ok) this.#acknowledged++
      } catch {
        // The service was killed: what it has of the request is compared at the end.
      }
      await wait(20 + this.#choice.below(60))
    }
  }

  /** At a watermark that moves, while all else goes on. */
  async #read(): Promise<void> {
    const counted = `count() AS n, toUInt64(ifNull(sum(doc.metadata.n.:Float64), 0)) AS total`
    const exported = `(SELECT argMax(toUInt64OrZero(value), at) FROM ${database}.service WHERE name = 'exported')`
    const query = `from: project_logs('${this.#project}') | measures: count(1) as n, sum(metadata.n) as total`
    while (!this.#isOver) {
      await wait(100)
      try {
        const node = this.#choice.pick(this.#cluster.nodes)
        const [there] = await this.#cluster.ask<{ w: string; n: string; total: string }>(
          node,
          `WITH ${exported} AS w SELECT w, ${counted} FROM ${database}.records
            WHERE transaction <= w AND by > w AND NOT deleted
            GROUP BY w SETTINGS skip_unavailable_shards = 0, max_execution_time = 5, connect_timeout_with_failover_ms = 500`,
        )
        if (!there || Number(there.w) === 0) continue
        const version = formatTransaction(Number(there.w))
        const { ok, json } = await this.#ask('/btql', { query, version })
        if (!ok) continue
        const [here] = json.data as { n: number; total: number | null }[]
        this.#reads++
        if (Number(there.n) === here!.n && Number(there.total) === (here!.total ?? 0)) continue
        this.#wrongReads++
        console.log(`wrong at ${version} by node ${node}:`, there, here)
      } catch {
        this.#refusedReads++
      }
    }
  }

  async #disturb(): Promise<void> {
    const { nodes } = this.#cluster
    while (!this.#isOver) {
      await wait(500 + this.#choice.below(2500))
      const node = this.#choice.pick(nodes)
      const ms = 500 + this.#choice.below(6000)
      const kind = this.#choice.pick(kinds)
      this.#events.set(kind, (this.#events.get(kind) ?? 0) + 1)
      await this.#fault(kind, node, ms)
    }
  }

  async #fault(kind: (typeof kinds)[number], node: number, ms: number): Promise<void> {
    const cluster = this.#cluster
    switch (kind) {
      case 'kill':
        await cluster.kill(node)
        await wait(ms)
        return cluster.start(node)
      case 'cut':
        cluster.cut(node)
        await wait(ms)
        return cluster.join(node)
      case 'pause':
        cluster.pause(node)
        await wait(ms)
        return cluster.resume(node)
      case 'slow':
        cluster.delay(node, 300)
        await wait(ms)
        return cluster.undelay(node)
      case 'service':
        return this.#restart()
      case 'full':
        cluster.fillDisk(node)
        await wait(ms)
        return cluster.emptyDisk(node)
      case 'altered':
        await this.#alter(node, 'RENAME COLUMN span_id TO other')
        await wait(ms)
        return this.#alter(node, 'RENAME COLUMN other TO span_id')
      case 'password':
        await this.#restart({ ASSAY_CLICKHOUSE_PASSWORD: 'wrong' })
        await wait(ms)
        return this.#restart()
      case 'sends':
        await cluster.ask(node, `SYSTEM STOP DISTRIBUTED SENDS ${database}.records`)
        await wait(ms)
        await cluster.ask(node, `SYSTEM START DISTRIBUTED SENDS ${database}.records`)
        return
    }
  }

  async #restart(environment: Record<string, string> = {}): Promise<void> {
    this.#service!.child.kill('SIGKILL')
    await this.#service!.exit
    await this.#start(environment)
  }

  async #alter(node: number, change: string): Promise<void> {
    await this.#cluster.ask(node, `ALTER TABLE ${database}.records_local ${change}`)
  }

  async #arrived(): Promise<void> {
    const end = Date.now() + 180_000
    for (;;) {
      const { json } = await this.#ask('/admin/status')
      const { state, fault } = json.export as { state: string; fault: unknown }
      if (state === 'current' && fault === null) break
      if (Date.now() > end) throw new Error(`not current: ${JSON.stringify(json.export)}`)
      await wait(200)
    }
  }

  async #compare(): Promise<boolean> {
    await this.#arrived()
    this.#service!.child.kill('SIGTERM')
    await this.#service!.exit
    const committed = await committedVersions(this.#directory)
    const { lost, doubled, other } = await compareNodes(this.#cluster, committed)
    const events = [...this.#events].map(([kind, times]) => `${kind} ${times}`).join(', ')
    console.log(
      `seed ${seed}, ${seconds} s: ${this.#acknowledged} inserts, ${committed.size} row versions; ${events}`,
    )
    console.log(
      `${this.#reads} reads, ${this.#refusedReads} refused; otherwise than committed: ${other}`,
    )
    console.log(`lost ${lost}, doubled ${doubled}, wrong reads ${this.#wrongReads}`)
    return lost + doubled + other + this.#wrongReads === 0
  }
}

/** What nodes have otherwise than it was committed, or than other replicas. */
async function compareNodes(cluster: Cluster, committed: Versions) {
  const counts = { lost: 0, doubled: 0, other: 0 }
  for (const node of cluster.nodes) {
    const found = await exportedVersions(cluster, database, node)
    for (const [name, version] of committed) {
      const exported = found.get(name)
      if (exported === undefined) counts.lost++
      else if (exported === 'twice') counts.doubled++
      else if (exported !== version) counts.other++
    }
    for (const name of found.keys()) if (!committed.has(name)) counts.other++
  }
  for (let shard = 0; shard < cluster.shards; shard++) {
    const [first, ...replicas] = await replicaVersions(cluster, database, shard)
    for (const replica of replicas) counts.other += differences(first!, replica).length
  }
  return counts
}

const missing = missingForCluster()
if (missing !== undefined) {
  console.log(`Left out: this machine lacks ${missing}`)
} else {
  const cluster = await Cluster.up({
    shards: 2,
    replicas: 2,
    number: Number(values.number),
    diskMegabytes,
  })
  try {
    if (!(await new FaultRun(cluster).run())) process.exitCode = 1
  } finally {
    cluster.down()
  }
}
