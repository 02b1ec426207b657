/**
 * `npm run cluster:faults -- --seconds 300 --seed 1`: the service exports to a cluster while it inserts, merges and deletes, and
 * nodes and the service itself are killed, paused, cut off and slowed down at random; disks are full, tables are altered, clocks
 * jump, and the service has a wrong password for a while. Readers ask the cluster meanwhile at the last transaction that it
 * says has arrived, and compare with what the service and its query nodes (`--nodes 3`) answer at that version. The service
 * and all nodes but the last read of the cluster, which alone has the bodies of many rows before the nodes are started.
 * A client reads what it wrote of all of them (`own-writes.ts`). At the end every node of the cluster must have every row
 * version once.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { formatTransaction } from '../../src/type/transaction.ts'
import {
  committedVersions,
  differences,
  exportedVersions,
  isAsCommitted,
  replicaVersions,
  type Versions,
} from '../support/exported-records.ts'
import { RandomChoice } from '../support/random-choice.ts'
import { Cluster, missingForCluster } from './cluster.ts'
import { OwnWrites } from './own-writes.ts'
import { Services, serviceKey } from './services.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    nodes: { type: 'string', default: '3' },
    number: { type: 'string', default: '80' },
  },
})
const seconds = Number(values.seconds)
const seed = Number(values.seed)

const database = 'assay'
const rowsOfRequest = 100
const ids = 5000
const traces = 700
/** Of texts that inputs are cut of; half of it at most is the length of one. */
const poolLength = 2 ** 20
const longestInput = 4000
/** Bodies leave once there is so much of them. */
const leavingBytes = 80 * 2 ** 20
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
  'clock',
  'query node',
] as const

class FaultRun {
  readonly #cluster: Cluster
  readonly #choice = new RandomChoice(seed)
  readonly #services: Services
  readonly #pool = poolOfWords(new RandomChoice(seed))
  #project = ''
  #isOver = false
  readonly #events = new Map<string, number>()
  #acknowledged = 0
  #reads = 0
  #wrongReads = 0
  #refusedReads = 0

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#services = new Services(cluster, Number(values.nodes))
  }

  async run(): Promise<boolean> {
    try {
      await this.#services.start(0)
      this.#project = await this.#projectOf('p')
      note('fills the home, until bodies have left it')
      await this.#fill()
      note('starts the query nodes')
      await this.#services.startNodes()
      note(`${seconds} s of faults`)
      const end = wait(seconds * 1000).then(() => {
        this.#isOver = true
      })
      const ownWrites = new OwnWrites({
        urls: () => this.#services.urls,
        key: serviceKey,
        project: await this.#projectOf('own writes'),
        choice: new RandomChoice(seed + 1),
        isOver: () => this.#isOver,
      })
      const work = [this.#write(), this.#read(), ownWrites.run(), this.#disturb()]
      await Promise.all([end, ...work])
      return await this.#compare(ownWrites)
    } finally {
      await this.#services.remove()
    }
  }

  async #projectOf(name: string): Promise<string> {
    return String((await this.#ask('/v1/project', { name })).json.id)
  }

  async #ask(
    path: string,
    body?: object,
    url = this.#services.home,
    seen?: string,
  ): Promise<{ ok: boolean; json: Record<string, unknown> }> {
    const answer = await fetch(url + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${serviceKey}`,
        'content-type': 'application/json',
        ...(seen && { 'x-bt-xact-id': seen }),
      },
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
      const start = this.#choice.below(poolLength / 2)
      const input = this.#pool.slice(start, start + this.#choice.below(longestInput))
      return { id, span_id: id, root_span_id: trace, input, metadata }
    })
  }

  /** As much as leaves the home, if there are query nodes, so that bodies are on the cluster alone. */
  async #fill(): Promise<void> {
    const path = `/v1/project_logs/${this.#project}/insert`
    const areToLeave = this.#services.count > 1
    for (let filled = 0; filled === 0 || (areToLeave && filled < leavingBytes); ) {
      const events = this.#rows()
      filled += JSON.stringify(events).length
      await this.#ask(path, { events })
    }
    await this.#arrived()
    while (areToLeave && (await this.#coldRows(this.#services.home)) === 0) await wait(200)
  }

  /** Row versions whose bodies a service has not itself. */
  async #coldRows(url: string): Promise<number> {
    const { json } = await this.#ask('/admin/status', undefined, url)
    return (json.storage as { cold?: { rows: number } }).cold?.rows ?? 0
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
    const object = `(SELECT any(object) FROM ${database}.objects WHERE type = 'project_logs' AND id = '${this.#project}')`
    const query = `from: project_logs('${this.#project}') | measures: count(1) as n, sum(metadata.n) as total`
    while (!this.#isOver) {
      await wait(100)
      try {
        const node = this.#choice.pick(this.#cluster.nodes)
        const [there] = await this.#cluster.ask<{ w: string; n: string; total: string }>(
          node,
          `WITH ${exported} AS w SELECT w, ${counted} FROM ${database}.records
            WHERE object = ${object} AND transaction <= w AND by > w AND NOT deleted
            GROUP BY w SETTINGS skip_unavailable_shards = 0, max_execution_time = 5, connect_timeout_with_failover_ms = 500`,
        )
        if (!there || Number(there.w) === 0) continue
        const version = formatTransaction(Number(there.w))
        const body = { query, version }
        for (const url of this.#services.urls) {
          const { ok, json } = await this.#ask('/btql', body, url, version)
          if (!ok) {
            this.#refusedReads++
            continue
          }
          const [here] = json.data as { n: number; total: number | null }[]
          this.#reads++
          if (Number(there.n) === here!.n && Number(there.total) === (here!.total ?? 0)) continue
          this.#wrongReads++
          console.log(`wrong at ${version} by node ${node} and ${url}:`, there, here)
        }
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
      case 'clock': {
        const service = this.#choice.below(this.#services.count)
        const hours = this.#choice.below(24) - 12
        this.#services.setClock(service, hours * 3600_000)
        await wait(ms)
        return this.#services.setClock(service, 0)
      }
      case 'query node': {
        const { count } = this.#services
        if (count === 1) return
        const service = 1 + this.#choice.below(count - 1)
        await this.#services.kill(service)
        return this.#services.start(service)
      }
      case 'sends':
        await cluster.ask(node, `SYSTEM STOP DISTRIBUTED SENDS ${database}.records`)
        await wait(ms)
        await cluster.ask(node, `SYSTEM START DISTRIBUTED SENDS ${database}.records`)
        return
    }
  }

  async #restart(environment: Record<string, string> = {}): Promise<void> {
    await this.#services.kill(0)
    await this.#services.start(0, environment)
  }

  async #alter(node: number, change: string): Promise<void> {
    await this.#cluster.ask(node, `ALTER TABLE ${database}.records_local ${change}`)
  }

  async #arrived(): Promise<void> {
    const end = Date.now() + 180_000
    for (;;) {
      const { json } = await this.#ask('/admin/status')
      // What was broken last may still keep the service from answering.
      const exported = json.export as { state: string; fault: unknown } | undefined
      if (exported?.state === 'current' && exported.fault === null) break
      if (Date.now() > end) throw new Error(`not current: ${JSON.stringify(json)}`)
      await wait(200)
    }
  }

  async #compare(ownWrites: OwnWrites): Promise<boolean> {
    note('compares what the nodes of the cluster have')
    await this.#arrived()
    const cold = await Promise.all(this.#services.urls.map((url) => this.#coldRows(url)))
    await this.#services.stop()
    const committed = await committedVersions(this.#services.directoryOf(0))
    const { lost, doubled, other } = await compareNodes(this.#cluster, committed)
    console.log(
      `seed ${seed}, ${seconds} s: ${this.#acknowledged} inserts, ${committed.size} row versions; ${counts(this.#events)}`,
    )
    console.log(
      `${this.#reads} reads, ${this.#refusedReads} refused; otherwise than committed: ${other}`,
    )
    console.log(
      `own writes: ${ownWrites.reads} reads, ${ownWrites.withdrawn} keys withdrawn; refused: ${counts(ownWrites.refused)}`,
    )
    console.log(
      `bodies that are on the cluster alone, of the home and each node: ${cold.join(', ')}`,
    )
    const wrong = this.#wrongReads + ownWrites.wrong
    console.log(`lost ${lost}, doubled ${doubled}, wrong reads ${wrong}`)
    return lost + doubled + other + wrong === 0
  }
}

/** Hardly to be compressed, as the words of users are not either. */
function poolOfWords(choice: RandomChoice): string {
  let text = ''
  while (text.length < poolLength) text += `${choice.below(2 ** 30).toString(36)} `
  return text
}

/** So that nobody takes a long run for one that hangs. */
function note(text: string): void {
  console.log(`${new Date().toISOString()} ${text}`)
}

function counts(times: ReadonlyMap<string, number>): string {
  return [...times].map(([what, count]) => `${what} ${count}`).join(', ')
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
      else if (!isAsCommitted(version, exported)) counts.other++
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
