/** Makes what the nodes have of an object's range of transactions what it is here. */
import { randomUUID } from 'node:crypto'
import { type BatchSource, traceOf } from './batch-reader.ts'
import type { ClickHouseCluster } from './cluster.ts'
import {
  type ComparedRange,
  hashesHere,
  numberOf,
  type StoredVersion,
  versionsThere,
} from './compare.ts'
import { deleteVersions } from './delete-versions.ts'
import type { ReadSource } from './read-records.ts'
import { sendRows } from './send-batch.ts'
import { VersionEncoder } from './version-encoder.ts'

export interface Repaired {
  readonly deleted: number
  readonly sent: number
}

const bytesAtOnce = 24 * 2 ** 20

/** Nothing else may write to the tables meanwhile. What is wrong is deleted from all nodes before it is sent. */
export async function repairRange(
  cluster: ClickHouseCluster,
  within: ReadSource,
  object: number,
  range: ComparedRange,
  through: number,
): Promise<Repaired> {
  const byNode = await cluster.onNodes((node) =>
    versionsThere(cluster, node, object, range, through),
  )
  const here = within((source) =>
    source.isThere(object) ? hashesHere(source, object, range, through) : new Map<string, bigint>(),
  )
  const right = rightVersions(cluster, byNode, here)
  const found = new Set(byNode.flatMap((versions) => versions.map(({ version }) => version)))
  const wrong = [...found].filter((version) => !right.has(version))
  await deleteVersions(cluster, object, wrong)
  let sent = 0
  for (let isLast = false; !isLast; ) {
    const part = within((source) => encodeMissing(source, object, range, right))
    await sendRows(cluster, part.bytes, part.rows, `repair ${randomUUID()}`)
    sent += part.rows
    isLast = part.isLast
  }
  return { deleted: wrong.length, sent }
}

/** Versions that are as they are here, once, on all replicas of one shard and nowhere else. */
function rightVersions(
  { nodes }: ClickHouseCluster,
  byNode: readonly (readonly StoredVersion[])[],
  here: ReadonlyMap<string, bigint>,
): Set<string> {
  const places = new Map<string, number[]>()
  const wrong = new Set<string>()
  byNode.forEach((versions, place) => {
    const { shard } = nodes[place]!
    for (const { version, hash, rows } of versions) {
      if (Number(rows) !== 1 || here.get(version) !== BigInt(hash)) wrong.add(version)
      const known = places.get(version)
      if (known) known.push(shard)
      else places.set(version, [shard])
    }
  })
  const replicas = new Map<number, number>()
  for (const { shard } of nodes) replicas.set(shard, (replicas.get(shard) ?? 0) + 1)
  const right = new Set<string>()
  for (const [version, shards] of places) {
    const [shard] = shards
    const isOnOne = shards.every((each) => each === shard)
    if (!wrong.has(version) && isOnOne && shards.length === replicas.get(shard!)) right.add(version)
  }
  return right
}

/** Some of the versions that are not in `done`, and adds them there. */
function encodeMissing(
  { reader, transaction, isThere }: BatchSource,
  object: number,
  { from, to }: ComparedRange,
  done: Set<string>,
) {
  const encoder = new VersionEncoder((missing) => traceOf(reader, missing, transaction))
  let rows = 0
  let isLast = true
  const versions = isThere(object) ? reader.readDelta(object, from, to, transaction) : []
  for (const { key: version, view } of versions) {
    const name = String(numberOf(version))
    if (done.has(name)) continue
    if (encoder.length >= bytesAtOnce) {
      isLast = false
      break
    }
    const by = reader.supersededBy(object, view.paginationKey, version, transaction)
    encoder.add({ object, version, view, by })
    done.add(name)
    rows++
  }
  return { rows, bytes: encoder.finish(), isLast }
}
