/**
 * A real cluster of ClickHouse on this machine, for tests: each node is a process in a network namespace of its own,
 * out of npm's `chdb`. What the build lacks is Keeper and replication between nodes: `Distributed` writes to all replicas.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { SmallDisk } from '../support/small-disk.ts'
import {
  addressOf,
  delayLink,
  makeNetwork,
  missingForNetwork,
  onHost,
  removeNetwork,
  setLink,
  undelayLink,
} from './network.ts'

const here = new URL('.', import.meta.url).pathname

export const clusterName = 'assay'
export const httpPort = 8123
/** The same nodes, of which inserts go to one replica. */
export const clusterOfOneInsert = 'one_insert'
const nativePort = 9000

export interface ClusterSize {
  readonly shards: number
  readonly replicas: number
  /** Tells clusters apart that run at the same time. */
  readonly number?: number
  /** Of a disk that each node has for itself, so that it can be full; undefined: all share the machine's. */
  readonly diskMegabytes?: number
}

/** What this machine lacks to run a cluster; undefined when nothing is missing. */
export function missingForCluster(): string | undefined {
  const network = missingForNetwork()
  if (network !== undefined) return network
  if (spawnSync('python3', ['-c', 'import ctypes, pty']).status !== 0) return 'python3'
  return undefined
}

/** Whether tests have a cluster. A line says why not. */
export function hasCluster(): boolean {
  const missing = missingForCluster()
  if (missing !== undefined)
    console.log(`Left out: what needs a cluster, as this machine lacks ${missing}`)
  return missing === undefined
}

/** Once: about 600 MB. */
export function installClickHouse(): void {
  if (existsSync(join(here, 'node_modules/chdb'))) return
  console.log('installing ClickHouse')
  // Not `ci`: the lock file has the library of the platform that it was written on only.
  const command = ['install', '--no-save', '--no-audit', '--no-fund']
  execFileSync('npm', command, { cwd: here, stdio: ['ignore', 'inherit', 'inherit'] })
}

function clickHouseLibrary(): string {
  const scope = join(here, 'node_modules/@chdb')
  for (const name of readdirSync(scope)) {
    const library = join(scope, name, 'libchdb.so')
    if (existsSync(library)) return library
  }
  throw new Error(`no libchdb.so in ${scope}`)
}

export class Cluster {
  readonly shards: number
  readonly replicas: number
  readonly #number: number
  readonly #directory: string
  readonly #pids = new Map<number, number>()
  readonly #disks = new Map<number, SmallDisk>()

  private constructor({ shards, replicas, number = 1 }: ClusterSize) {
    this.shards = shards
    this.replicas = replicas
    this.#number = number
    this.#directory = join(tmpdir(), `assay-cluster-${number}`)
  }

  /** Makes an empty cluster in the place of one of the same number; resolves when all nodes answer. */
  static async up(size: ClusterSize): Promise<Cluster> {
    installClickHouse()
    Cluster.find(size.number)?.down()
    const cluster = new Cluster(size)
    rmSync(cluster.#directory, { recursive: true, force: true })
    makeNetwork(cluster.#number, cluster.nodes.length)
    const { diskMegabytes } = size
    if (diskMegabytes !== undefined) {
      for (const node of cluster.nodes) cluster.#disks.set(node, SmallDisk.mount(diskMegabytes))
    }
    await Promise.all(cluster.nodes.map((node) => cluster.start(node)))
    return cluster
  }

  /** The cluster of that number that was started, perhaps by another process. */
  static find(number = 1): Cluster | undefined {
    const file = join(tmpdir(), `assay-cluster-${number}`, 'cluster.json')
    if (!existsSync(file)) return undefined
    const { shards, replicas, pids, disks } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly shards: number
      readonly replicas: number
      readonly pids: readonly (readonly [node: number, pid: number])[]
      readonly disks: readonly (readonly [node: number, directory: string])[]
    }
    const cluster = new Cluster({ shards, replicas, number })
    for (const [node, pid] of pids) cluster.#pids.set(node, pid)
    for (const [node, at] of disks) cluster.#disks.set(node, SmallDisk.at(at))
    return cluster
  }

  /** Numbers of the nodes, from 1: those of the first shard come first. */
  get nodes(): number[] {
    return Array.from({ length: this.shards * this.replicas }, (_, i) => i + 1)
  }

  /** Process ids of the nodes that were started. */
  get pids(): number[] {
    return [...this.#pids.values()]
  }

  /** Where disks are that nodes have for themselves. */
  get disks(): string[] {
    return [...this.#disks.values()].map(({ directory }) => directory)
  }

  urlOf(node: number): string {
    return `http://${addressOf(this.#number, node)}:${httpPort}`
  }

  /** Starts a node that does not run; resolves when it answers. */
  async start(node: number): Promise<void> {
    const directory = this.#directoryOf(node)
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'config.xml'), this.#configOf(node))
    const log = openSync(join(directory, 'log'), 'a')
    const [program, ...args] = [
      ...onHost(this.#number, node),
      'python3',
      join(here, 'node.py'),
      ...['--config-file', join(directory, 'config.xml')],
      ...['--path', this.#dataOf(node)],
      ...['--listen_host', addressOf(this.#number, node)],
      ...['--tcp_port', String(nativePort), '--http_port', String(httpPort)],
      ...['--logger.level', 'error', '--interactive'],
      ...['--query', 'SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP'],
    ]
    const child = spawn(program!, args, {
      env: { ...process.env, CHDB_LIBRARY: clickHouseLibrary() },
      stdio: ['ignore', log, log],
      detached: true,
    })
    child.unref()
    this.#pids.set(node, child.pid!)
    this.#save()
    await this.#answers(node)
  }

  /** `kill -9`. */
  async kill(node: number): Promise<void> {
    this.#signal(node, 'SIGKILL')
    while (this.#isRunning(node)) await wait(20)
  }

  /** Stops a node for a while, which keeps its connections. */
  pause(node: number): void {
    this.#signal(node, 'SIGSTOP')
  }

  resume(node: number): void {
    this.#signal(node, 'SIGCONT')
  }

  cut(node: number): void {
    setLink(this.#number, node, 'down')
  }

  join(node: number): void {
    setLink(this.#number, node, 'up')
  }

  /** Makes what comes to the node slow; false where this kernel cannot. */
  delay(node: number, milliseconds: number): boolean {
    return delayLink(this.#number, node, milliseconds)
  }

  undelay(node: number): void {
    undelayLink(this.#number, node)
  }

  /** Leaves no room on the node's own disk. */
  fillDisk(node: number): void {
    this.#disks.get(node)?.fill()
  }

  emptyDisk(node: number): void {
    this.#disks.get(node)?.empty()
  }

  /** Keeps what a node that does not run has stored, until its disk is put back. */
  keepDisk(node: number): void {
    cpSync(this.#dataOf(node), this.#keptOf(node), { recursive: true })
  }

  /** Gives a node that does not run what it had stored when that was kept. */
  putBackDisk(node: number): void {
    rmSync(this.#dataOf(node), { recursive: true })
    cpSync(this.#keptOf(node), this.#dataOf(node), { recursive: true })
  }

  #dataOf(node: number): string {
    return join(this.#disks.get(node)?.directory ?? this.#directoryOf(node), 'data')
  }

  #keptOf(node: number): string {
    return join(this.#directoryOf(node), 'kept')
  }

  #directoryOf(node: number): string {
    return join(this.#directory, String(node))
  }

  /** The rows of the answer of one node. */
  async ask<Row = Record<string, unknown>>(
    node: number,
    sql: string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Row[]> {
    const form = {
      default_format: 'JSONEachRow',
      output_format_json_quote_64bit_integers: '1',
      ...settings,
    }
    const url = `${this.urlOf(node)}/?${new URLSearchParams(form)}`
    const response = await fetch(url, {
      method: 'POST',
      // A connection that is kept may be one to a node as it was before it was killed.
      headers: { connection: 'close' },
      body: sql,
      signal: AbortSignal.timeout(60_000),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(text.slice(0, 1000))
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row)
  }

  /** Ends all nodes by their process ids, and removes what they stored. */
  down(): void {
    for (const node of this.nodes) this.#signal(node, 'SIGKILL')
    removeNetwork(this.#number, this.nodes.length)
    for (const disk of this.#disks.values()) disk.unmount()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  async #answers(node: number): Promise<void> {
    const end = Date.now() + 60_000
    while (Date.now() < end) {
      if (!this.#isRunning(node)) break
      try {
        await fetch(`${this.urlOf(node)}/ping`, { signal: AbortSignal.timeout(500) })
        return
      } catch {
        await wait(50)
      }
    }
    const log = join(this.#directoryOf(node), 'log')
    throw new Error(`node ${node} does not answer: ${readFileSync(log, 'utf8').slice(-2000)}`)
  }

  #signal(node: number, signal: NodeJS.Signals): void {
    if (this.#isRunning(node)) process.kill(this.#pids.get(node)!, signal)
  }

  /** Whether the process with the node's id is the node. */
  #isRunning(node: number): boolean {
    const pid = this.#pids.get(node)
    if (pid === undefined) return false
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      // That of one that has just been started is still the command before it.
      return command.includes(this.#directoryOf(node)) || command === ''
        ? !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
        : false
    } catch {
      return false
    }
  }

  #save(): void {
    const { shards, replicas } = this
    const disks = [...this.#disks].map(([node, { directory }]) => [node, directory])
    const saved = { shards, replicas, pids: [...this.#pids], disks }
    writeFileSync(join(this.#directory, 'cluster.json'), JSON.stringify(saved))
  }

  #configOf(node: number): string {
    // As nodes cannot fetch from each other, inserts go to each replica.
    const [cluster, other] = [false, true].map((isInternal) => this.#shardsOf(isInternal))
    const shard = Math.floor((node - 1) / this.replicas) + 1
    return `<clickhouse>
  <remote_servers>
    <${clusterName}>${cluster}</${clusterName}>
    <${clusterOfOneInsert}>${other}</${clusterOfOneInsert}>
  </remote_servers>
  <macros><shard>${shard}</shard><replica>${node}</replica></macros>
</clickhouse>
`
  }

  #shardsOf(isInternal: boolean): string {
    const shards = Array.from({ length: this.shards }, (_, shard) => {
      const replicas = Array.from({ length: this.replicas }, (_, replica) => {
        const host = addressOf(this.#number, shard * this.replicas + replica + 1)
        return `<replica><host>${host}</host><port>${nativePort}</port></replica>`
      })
      return `<shard><internal_replication>${isInternal}</internal_replication>${replicas.join('')}</shard>`
    })
    return shards.join('')
  }
}
