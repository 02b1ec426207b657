/**
 * Compares what a range of transactions has here and on the nodes: how many row versions of each object there are, and a sum of
 * their hashes, on every replica. Versions that were superseded after the last transaction that is compared count as current.
 */
import { createHash } from 'node:crypto'
import { ByteWriter } from '../json/byte-writer.ts'
import { rowFlags } from '../storage/row/row.ts'
import type { RowKey } from '../type/transaction.ts'
import { type BatchSource, objectsOf } from './batch-reader.ts'
import type { ClickHouseCluster } from './cluster.ts'
import type { ClickHouseNode } from './connection.ts'
import type { ReadSource } from './read-records.ts'
import { writeBody } from './row-encoder.ts'
import { notSuperseded } from './tables.ts'

/** Transactions after `from` and up to `to`, both of which are snapshots. */
export interface ComparedRange {
  readonly from: number
  readonly to: number
  /** Whether the nodes alone have the bodies: then keys are compared without them. */
  readonly isEvicted?: boolean
}

export interface VersionSum {
  readonly rows: number
  /** Of 64 bits, whatever order the versions come in. */
  readonly hash: bigint
}

export interface Difference extends ComparedRange {
  readonly object: number
  readonly here: VersionSum
  /** Of the replicas of all shards that have the most; of others, they are told apart by `areReplicasEqual`. */
  readonly there: VersionSum
  readonly areReplicasEqual: boolean
}

/** By object. */
type Sums = ReadonlyMap<number, VersionSum>

const none: VersionSum = { rows: 0, hash: 0n }
const bits = 2n ** 64n

export interface Compared {
  /** Here. */
  readonly rows: number
  readonly differences: readonly Difference[]
}

export async function compareRange(
  cluster: ClickHouseCluster,
  within: ReadSource,
  range: ComparedRange,
  through: number,
): Promise<Compared> {
  const here = within((source) => sumsHere(source, range, through))
  const byNode = await cluster.onNodes((node) => sumsThere(cluster, node, range, through))
  const objects = new Set([...here.keys(), ...byNode.flatMap((sums) => [...sums.keys()])])
  const differences: Difference[] = []
  for (const object of [...objects].sort((a, b) => a - b)) {
    const local = here.get(object) ?? none
    const { sum: there, areReplicasEqual } = overShards(cluster, byNode, object)
    if (isSame(local, there) && areReplicasEqual) continue
    differences.push({ ...range, object, here: local, there, areReplicasEqual })
  }
  let rows = 0
  for (const sum of here.values()) rows += sum.rows
  return { rows, differences }
}

function overShards({ nodes }: ClickHouseCluster, byNode: readonly Sums[], object: number) {
  const byShard = new Map<number, VersionSum>()
  let areReplicasEqual = true
  nodes.forEach(({ shard }, place) => {
    const sum = byNode[place]!.get(object) ?? none
    const other = byShard.get(shard)
    if (other && !isSame(other, sum)) areReplicasEqual = false
    if (!other || sum.rows > other.rows) byShard.set(shard, sum)
  })
  let sum = none
  for (const each of byShard.values()) sum = plus(sum, each)
  return { sum, areReplicasEqual }
}

function sumsHere(source: BatchSource, range: ComparedRange, through: number): Sums {
  const { from, to } = range
  const { reader, transaction, isThere } = source
  const sums = new Map<number, VersionSum>()
  for (const object of objectsOf(reader, from, to, transaction)) {
    if (!isThere(object)) continue
    let sum = none
    for (const hash of hashesHere(source, object, range, through).values()) {
      sum = plus(sum, { rows: 1, hash })
    }
    if (sum.rows > 0) sums.set(object, sum)
  }
  return sums
}

/** By version, as its number is told by the nodes. */
export function hashesHere(
  { reader, transaction }: BatchSource,
  object: number,
  { from, to, isEvicted }: ComparedRange,
  through: number,
): Map<string, bigint> {
  const hashes = new Map<string, bigint>()
  const out = new ByteWriter(4096)
  const versions = isEvicted
    ? reader.keptDelta(object, from, to, transaction)
    : reader.readDelta(object, from, to, transaction)
  for (const { key, view } of versions) {
    const ended = reader.supersededBy(object, view.paginationKey, key, transaction)
    const by = ended === undefined || ended > through ? notSuperseded : ended
    const version = numberOf(key)
    const previous = view.previous ? numberOf(view.previous) : 0
    out.truncate(0)
    out.text(
      `${version} ${numberOf(view.paginationKey)} ${view.transaction} ${by} ${view.flags & ~rowFlags.evicted} ${previous} `,
    )
    if (!isEvicted) writeBody(view, out)
    hashes.set(String(version), hashOf(out.view()))
  }
  return hashes
}

const hashedText = (
  through: number,
  isEvicted: boolean,
) => `concat(toString(version), ' ', toString(pagination_key), ' ',
  toString(transaction), ' ', toString(if(by > ${through}, ${notSuperseded}, by)), ' ', toString(flags), ' ',
  toString(previous), ' '${isEvicted ? '' : ', body'})`

const hashThere = (through: number, isEvicted = false) =>
  `reinterpretAsUInt64(substring(MD5(${hashedText(through, isEvicted)}), 1, 8))`

/** What `hashThere` is. */
function hashOf(text: Uint8Array): bigint {
  return createHash('md5').update(text).digest().readBigUInt64LE(0)
}

async function sumsThere(
  { settings: { database } }: ClickHouseCluster,
  node: ClickHouseNode,
  { from, to, isEvicted }: ComparedRange,
  through: number,
): Promise<Sums> {
  const rows = await node.longRows<{
    readonly object: number
    readonly rows: string
    readonly hash: string
  }>(
    `SELECT object, count() AS rows, sum(${hashThere(through, isEvicted)}) AS hash FROM ${database}.records_local
      WHERE transaction > ${from} AND transaction <= ${to} GROUP BY object`,
  )
  return new Map(
    rows.map(({ object, rows, hash }) => [object, { rows: Number(rows), hash: BigInt(hash) }]),
  )
}

export interface StoredVersion {
  readonly version: string
  readonly hash: string
  readonly rows: string
}

/** Versions of one node, in no order; one that is there twice comes with both. */
export function versionsThere(
  { settings: { database } }: ClickHouseCluster,
  node: ClickHouseNode,
  object: number,
  { from, to }: ComparedRange,
  through: number,
): Promise<StoredVersion[]> {
  return node.longRows<StoredVersion>(
    `SELECT version, min(${hashThere(through)}) AS hash, count() AS rows FROM ${database}.records_local
      WHERE object = ${object} AND transaction > ${from} AND transaction <= ${to} GROUP BY version`,
  )
}

function plus(a: VersionSum, b: VersionSum): VersionSum {
  return { rows: a.rows + b.rows, hash: (a.hash + b.hash) % bits }
}

function isSame(a: VersionSum, b: VersionSum): boolean {
  return a.rows === b.rows && a.hash === b.hash
}

/** As the column `version` has it. */
export function numberOf({ transaction, index }: RowKey): bigint {
  return BigInt(transaction) * 65_536n + BigInt(index)
}
