/** Reads row versions that only the nodes have, as they come, in memory that tasks may be lent (`storage/row/lent-rows.ts`). */
import { setTimeout as wait } from 'node:timers/promises'
import { prefixedText } from '../../json/prefixed-texts.ts'
import { endOfLentRow } from '../../storage/row/lent-rows.ts'
import type { RowKey } from '../../type/transaction.ts'
import { arrivedCondition } from '../arrived-table.ts'
import { ClickHouseCluster } from '../cluster.ts'
import { type ClickHouseNode, isSaid, type StreamOptions } from '../connection.ts'
import { ExportFault, ReplicaBehind } from '../fault.ts'
import type { ClickHouseSettings } from '../settings.ts'
import { coldColumns } from './compile-scan.ts'
import type { ColdBounds, CompiledScan } from './compiled-scan.ts'

/** A row version by its keys. */
export interface ColdKey {
  readonly object: number
  readonly paginationKey: RowKey
  readonly version: RowKey
}

/** What is lent to one task at least, unless there is no more; a longer row comes by itself. */
const batchBytes = 4 * 2 ** 20
/** Rows that are asked for by their keys with one statement. */
const keysAtOnce = 10_000
/** As many queries may read at a time, each of which may wait for rows by their keys while it is at a scan. */
const connections = 256
/** Of nodes that do not answer, this is known before two seconds are over. */
const watchEveryMs = 300
const pingMs = 600
const openMs = 1500
/** Queries have deadlines of their own. */
const longestMs = 3600_000
const mostEntries = 2
/** How long a replica is looked for that has all: nodes choose one at random each time. */
const behindMs = 1500
const behindEveryMs = 20

const serverSettings = {
  skip_unavailable_shards: 0,
  connect_timeout_with_failover_ms: 500,
  connections_with_failover_max_tries: 1,
  // Whether a replica has all is asked where its rows are.
  prefer_global_in_and_join: 0,
  // In seconds: of replicas of Keeper, nodes choose one that is behind for no longer, unless there is none.
  max_replica_delay_for_distributed_queries: 1,
  // Numbers of JSON are numbers, whatever the user's profile says.
  output_format_json_quote_64bit_floats: 0,
  // Statements of long conditions have more parts than nodes take of anybody.
  max_ast_elements: 1_000_000,
  // Bodies are long.
  preferred_block_size_bytes: 2 ** 20,
}

export class ColdReader {
  readonly #settings: ClickHouseSettings
  readonly #closing = new AbortController()
  #cluster: Promise<ClickHouseCluster> | undefined

  constructor(settings: ClickHouseSettings) {
    this.#settings = settings
  }

  get database(): string {
    return this.#settings.database
  }

  /** Rows of a compiled scan, in parts. Throws an `ExportFault`; never gives an answer that is short. */
  async *rows(
    { sql, parameters }: Pick<CompiledScan, 'sql' | 'parameters'>,
    signal: AbortSignal,
  ): AsyncGenerator<SharedArrayBuffer> {
    const chunks = this.#chunks({ sql, parameters, signal })
    yield* partsOf(chunks, (bytes, start) => endOfLentRow(bytes, start, bytes.length))
  }

  /** The texts of a statement whose rows have one text each, end to end (`json/prefixed-texts.ts`), in parts. */
  async *texts(
    { sql, parameters }: Pick<CompiledScan, 'sql' | 'parameters'>,
    signal: AbortSignal,
  ): AsyncGenerator<SharedArrayBuffer> {
    const chunks = this.#chunks({ sql, parameters, signal })
    yield* partsOf(chunks, (bytes, start) => prefixedText(bytes, start)?.to)
  }

  /** The rows of these versions, as far as the nodes have them. */
  async *byKeys(
    keys: readonly ColdKey[],
    { exportedThrough, round }: Pick<ColdBounds, 'exportedThrough' | 'round'>,
    signal: AbortSignal,
  ): AsyncGenerator<SharedArrayBuffer> {
    for (let from = 0; from < keys.length; from += keysAtOnce) {
      const some = keys.slice(from, from + keysAtOnce)
      const tuples = some.map(({ object, paginationKey, version }) => {
        return `(${object},${numberOf(paginationKey)},${numberOf(version)})`
      })
      const sql = `SELECT ${coldColumns} FROM ${this.database}.records WHERE (object, pagination_key, version) IN (${tuples.join()})
        AND ${arrivedCondition(this.database)}`
      yield* this.rows({ sql, parameters: { arrivedThrough: exportedThrough, round } }, signal)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new ExportFault('failed', 'the service ends'))
    const cluster = await this.#cluster?.catch(() => undefined)
    await cluster?.close()
  }

  /** Of replicas that have all. */
  async *#chunks(asked: Asked): AsyncGenerator<Buffer> {
    const end = performance.now() + behindMs
    for (let tries = 0; ; tries++) {
      let isBegun = false
      try {
        // The node's own replica would be the one each time.
        const further = tries === 0 ? {} : { prefer_localhost_replica: 0 }
        for await (const chunk of this.#chunksOnce(asked, further)) {
          isBegun = true
          yield chunk
        }
        return
      } catch (thrown) {
        const mayElse = thrown instanceof ReplicaBehind && !isBegun && !asked.signal.aborted
        if (!mayElse || performance.now() > end) throw thrown
        await wait(behindEveryMs)
      }
    }
  }

  async *#chunksOnce(asked: Asked, further: StreamOptions['settings']): AsyncGenerator<Buffer> {
    const cluster = await this.#open()
    const entries = cluster.nodes.slice(0, mostEntries)
    let fault: unknown
    for (const { node } of entries) {
      let isBegun = false
      try {
        for await (const chunk of watched(cluster, node, asked, further)) {
          isBegun = true
          yield chunk
        }
        return
      } catch (thrown) {
        if (thrown instanceof ReplicaBehind) throw thrown
        const isGone = thrown instanceof ExportFault && thrown.kind === 'unreachable'
        if (isGone) this.#cluster = undefined
        // Of a shard that is gone no other node has rows, nor of one that a node says so of.
        const mayElse = isGone && !(thrown instanceof ShardFault) && !isSaid(thrown)
        if (isBegun || !mayElse || asked.signal.aborted) throw thrown
        fault ??= thrown
      }
    }
    throw fault
  }

  #open(): Promise<ClickHouseCluster> {
    this.#cluster ??= this.#openWithin().catch((thrown: unknown) => {
      this.#cluster = undefined
      throw thrown
    })
    return this.#cluster
  }

  async #openWithin(): Promise<ClickHouseCluster> {
    const { urls } = this.#settings
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const hosts = urls.map((url) => new URL(url).host).join(' and ')
        const silent = `${hosts} cannot be reached: no answer in ${openMs / 1000} s`
        reject(new ExportFault('unreachable', silent))
      }, openMs)
    })
    try {
      const opening = ClickHouseCluster.open(this.#settings, this.#closing.signal, connections)
      return await Promise.race([opening, late])
    } finally {
      clearTimeout(timer)
    }
  }
}

/** No node of a shard answers. */
class ShardFault extends ExportFault {}

interface Asked extends Pick<CompiledScan, 'sql' | 'parameters'> {
  readonly signal: AbortSignal
}

/** Of a node that was cut off nothing is heard: whether one of each shard answers is asked while rows are waited for. */
async function* watched(
  cluster: ClickHouseCluster,
  entry: ClickHouseNode,
  { sql, parameters, signal }: Asked,
  further: StreamOptions['settings'],
): AsyncGenerator<Buffer> {
  const control = new AbortController()
  const watch = new ShardWatch(cluster, entry, (fault) => control.abort(fault))
  const stream = entry.stream(sql, {
    parameters,
    settings: { ...serverSettings, ...further },
    signal: AbortSignal.any([signal, control.signal]),
    deadlineMs: longestMs,
    nodes: cluster.nodes.map(({ node }) => node),
  })
  try {
    for (;;) {
      watch.begin()
      const next = await stream.next()
      watch.end()
      if (next.done) return
      yield next.value
    }
  } finally {
    watch.end()
    await stream.return(undefined)
  }
}

class ShardWatch {
  readonly #cluster: ClickHouseCluster
  readonly #entry: ClickHouseNode
  readonly #onDead: (fault: unknown) => void
  #timer: NodeJS.Timeout | undefined

  constructor(cluster: ClickHouseCluster, entry: ClickHouseNode, onDead: (fault: unknown) => void) {
    this.#cluster = cluster
    this.#entry = entry
    this.#onDead = onDead
  }

  begin(): void {
    this.#timer = setTimeout(() => this.#ask(), watchEveryMs)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #ask(): Promise<void> {
    const timer = this.#timer
    // A node that is busy may be late once.
    const fault = (await this.#deadShard()) && (await this.#deadShard())
    if (this.#timer !== timer) return
    if (fault) this.#onDead(fault)
    else this.begin()
  }

  /** What is said of a shard none of whose nodes answers, or of the node that was asked. */
  async #deadShard(): Promise<unknown> {
    const { nodes } = this.#cluster
    const outcomes = await Promise.allSettled(nodes.map(({ node }) => node.ping(pingMs)))
    const answering = new Set(
      nodes.flatMap(({ shard }, i) => (outcomes[i]!.status === 'fulfilled' ? [shard] : [])),
    )
    for (const [i, { node, shard }] of nodes.entries()) {
      const outcome = outcomes[i]!
      if (outcome.status === 'fulfilled') continue
      if (!answering.has(shard)) return new ShardFault('unreachable', messageOf(outcome.reason))
      if (node === this.#entry) return outcome.reason
    }
    return undefined
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Where the row ends that begins at `start`; undefined when not all of it is there. */
type EndOfRow = (bytes: Buffer, start: number) => number | undefined

/** Whole rows, at least `batchBytes` of them together. */
async function* partsOf(
  chunks: AsyncIterable<Buffer>,
  endOfRow: EndOfRow,
): AsyncGenerator<SharedArrayBuffer> {
  let held: Buffer[] = []
  let heldBytes = 0
  let wantedBytes = batchBytes
  const take = (): Buffer => {
    const all = held.length === 1 ? held[0]! : Buffer.concat(held)
    held = []
    heldBytes = 0
    return all
  }
  for await (const chunk of chunks) {
    held.push(chunk)
    heldBytes += chunk.length
    if (heldBytes < wantedBytes) continue
    const bytes = take()
    const end = endOfWholeRows(bytes, endOfRow)
    if (end > 0) yield sharedCopy(bytes.subarray(0, end))
    // Of a long row no end is there yet: looked for with each chunk, it would be put together again and again.
    wantedBytes = end > 0 ? batchBytes : 2 * bytes.length
    if (end === bytes.length) continue
    held = [bytes.subarray(end)]
    heldBytes = bytes.length - end
  }
  if (heldBytes === 0) return
  const bytes = take()
  const end = endOfWholeRows(bytes, endOfRow)
  if (end < bytes.length) throw endedEarly()
  yield sharedCopy(bytes)
}

function endedEarly(): ExportFault {
  return new ExportFault('unreachable', 'an answer of ClickHouse ended within a row')
}

function endOfWholeRows(bytes: Buffer, endOfRow: EndOfRow): number {
  let end = 0
  while (end < bytes.length) {
    const next = endOfRow(bytes, end)
    if (next === undefined) return end
    end = next
  }
  return end
}

function sharedCopy(bytes: Buffer): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(bytes.length)
  bytes.copy(Buffer.from(memory))
  return memory
}

function numberOf({ transaction, index }: RowKey): bigint {
  return BigInt(transaction) * 65_536n + BigInt(index)
}
