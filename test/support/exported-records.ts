/** What a data directory has committed, and what the nodes of a cluster have of it. */
import { createHash } from 'node:crypto'
import { RemovedObjects } from '../../src/catalog/removed-objects.ts'
import { openRecords } from '../../src/storage/environment.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import type { RowView } from '../../src/storage/row/row.ts'
import type { RowKey } from '../../src/type/transaction.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** By object and version, all that tells one row version from another. */
export type Versions = ReadonlyMap<string, string>

interface ExportedRow {
  readonly object: number
  readonly version: string
  readonly pagination_key: string
  readonly transaction: string
  readonly by: string
  readonly deleted: boolean
  readonly hash: string
}

const notSuperseded = '18446744073709551615'

/** In the place of the hash of a body that nodes alone have. */
const leftBody = 'left'

/** Whether nodes have a version as it was committed. */
export function isAsCommitted(committed: string, exported: string): boolean {
  if (!committed.endsWith(leftBody)) return committed === exported
  return exported.startsWith(committed.slice(0, -leftBody.length))
}

/** Without those of objects that were removed, which leave the directory some time later. */
export async function committedVersions(directory: string): Promise<Versions> {
  const records = openRecords(directory, { readOnly: true })
  try {
    const removed = new RemovedObjects()
    for (const { key, value } of records.catalog.getRange()) removed.note(key.toString(), value)
    const isGone = removed.numbers()
    const reader = new RecordReader(records)
    const versions = new Map<string, string>()
    for (const object of reader.objectsWrittenAfter(0)) {
      if (isGone.has(object)) continue
      for (const { key, view } of reader.keptDelta(object, 0, reader.lastTransaction())) {
        const by = reader.supersededBy(object, view.paginationKey, key)
        versions.set(
          `${object} ${numberOf(key)}`,
          [
            numberOf(view.paginationKey),
            view.transaction,
            by ?? notSuperseded,
            view.isTombstone,
            view.isEvicted ? leftBody : createHash('md5').update(bodyOf(view)).digest('hex'),
          ].join(' '),
        )
      }
    }
    return versions
  } finally {
    await records.root.close()
  }
}

/** As one node sees the whole cluster; a version that is there twice is named so. */
export async function exportedVersions(
  cluster: Cluster,
  database: string,
  node = 1,
  table = 'records',
): Promise<Versions> {
  const rows = await cluster.ask<ExportedRow>(
    node,
    `SELECT object, version, pagination_key, transaction, by, deleted, lower(hex(MD5(body))) AS hash FROM ${database}.${table}`,
  )
  const versions = new Map<string, string>()
  for (const { object, version, pagination_key, transaction, by, deleted, hash } of rows) {
    const name = `${object} ${version}`
    const text = [pagination_key, transaction, by, deleted, hash].join(' ')
    versions.set(name, versions.has(name) ? 'twice' : text)
  }
  return versions
}

/** Numbers of the shard's rows, replica by replica. */
export async function replicaVersions(
  cluster: Cluster,
  database: string,
  shard: number,
): Promise<Versions[]> {
  const first = shard * cluster.replicas + 1
  const nodes = Array.from({ length: cluster.replicas }, (_, replica) => first + replica)
  return Promise.all(
    nodes.map((node) => exportedVersions(cluster, database, node, 'records_local')),
  )
}

/** Of versions that both should have, what one has otherwise or not at all: the first few. */
export function differences(expected: Versions, found: Versions): string[] {
  const names = new Set([...expected.keys(), ...found.keys()])
  const different = [...names].filter((name) => expected.get(name) !== found.get(name))
  return different
    .slice(0, 5)
    .map((name) => `${name}: ${expected.get(name)} there, ${found.get(name)} in ClickHouse`)
}

function numberOf({ transaction, index }: RowKey): string {
  return String(BigInt(transaction) * 65_536n + BigInt(index))
}

/** Its members in the order in which they were written. */
function bodyOf(view: RowView): string {
  const members = Array.from({ length: view.fieldCount }, (_, field) => {
    const start = view.memberStart(field)
    return { start, text: view.bytes.toString('utf8', start, view.valueAt(field).end) }
  })
  members.sort((a, b) => a.start - b.start)
  return `{${members.map(({ text }) => text).join(',')}}`
}
