/** Sends batches so that each row arrives once, however often it is tried. */
import { setTimeout as wait } from 'node:timers/promises'
import type { EncodedBatch, Mark } from './batch-reader.ts'
import type { ClickHouseCluster } from './cluster.ts'
import type { ClickHouseNode } from './connection.ts'
import type { BatchPlace } from './export-state.ts'
import { ExportFault } from './fault.ts'
import { recordColumns } from './tables.ts'

/** Of an insert, after which it is tried again; and what nodes wait for each other. */
const insertMs = 120_000
const betweenNodesSeconds = 60
const connectMs = 1000

/** How long parts that are written anew are waited for, and how often it is looked whether they are. */
const mutationsMs = 30_000
const mutationsEveryMs = 200

/** Marks of one statement. */
const marksAtOnce = 5000

const columns = recordColumns.map(({ name }) => `\`${name}\``).join(', ')

/** @param sender a part of the insert's token, beside the batch's place */
export async function sendBatch(
  cluster: ClickHouseCluster,
  { batch, rowCount, bytes }: EncodedBatch,
  sender: string,
): Promise<void> {
  const { from, to, begin, end } = batch
  const token = `${sender} ${from}-${to} ${placeText(begin)}-${end ? placeText(end) : ''}`
  await sendRows(cluster, bytes, rowCount, token)
}

/** @param token of an insert that is to be done once, however often it is tried */
export async function sendRows(
  cluster: ClickHouseCluster,
  bytes: Uint8Array,
  rowCount: number,
  token: string,
): Promise<void> {
  if (rowCount === 0) return
  const { database } = cluster.settings
  const table = cluster.isSharded ? 'records' : 'records_local'
  await cluster.entry.insert(
    `INSERT INTO ${database}.${table} (${columns}) FORMAT RowBinary`,
    bytes,
    {
      insert_deduplicate: 1,
      insert_deduplication_token: token,
      async_insert: 0,
      distributed_foreground_insert: 1,
      distributed_background_insert_timeout: betweenNodesSeconds,
      connect_timeout_with_failover_ms: connectMs,
      // One block: a part of it would not be told from a part of another.
      min_insert_block_size_rows: rowCount + 1,
      min_insert_block_size_bytes: 2 ** 40,
      max_insert_block_size: rowCount + 1,
      max_memory_usage: 0,
    },
    insertMs,
  )
}

function placeText({ object, version }: BatchPlace): string {
  return `${object}.${version.transaction}.${version.index}`
}

/**
 * Ends versions that arrived with other batches, wherever they are: a record may have left its shard.
 *
 * ClickHouse loses an update that comes while parts of the table are written anew, as by `ALTER TABLE` of whoever else
 * changes it, or by our own wiping: it is done again, until nothing of that kind was beside it.
 */
export async function sendMarks(cluster: ClickHouseCluster, marks: readonly Mark[]): Promise<void> {
  if (marks.length === 0) return
  const end = performance.now() + mutationsMs
  for (;;) {
    const before = await readMutations(cluster)
    await updateMarks(cluster, marks)
    const after = await readMutations(cluster)
    if (before.unfinished === undefined && after.names === before.names) return
    if (performance.now() > end) throw mutationFault(after.unfinished)
    await wait(mutationsEveryMs)
  }
}

async function updateMarks(cluster: ClickHouseCluster, marks: readonly Mark[]): Promise<void> {
  const table = `${cluster.settings.database}.records_local`
  for (let from = 0; from < marks.length; from += marksAtOnce) {
    await cluster.change(table, markStatement(table, marks.slice(from, from + marksAtOnce)))
  }
}

interface Mutations {
  /** Of all nodes: other ones tell that some were begun. */
  readonly names: string
  /** What the first of those is that are under way. */
  readonly unfinished: string | undefined
}

async function readMutations(cluster: ClickHouseCluster): Promise<Mutations> {
  const { database } = cluster.settings
  const read = (node: ClickHouseNode) =>
    node.rows<{ readonly names: string; readonly unfinished: readonly string[] }>(
      `SELECT arrayStringConcat(arraySort(groupArray(mutation_id)), ' ') AS names,
        groupArrayIf(1)(command, NOT is_done) AS unfinished
        FROM system.mutations WHERE database = '${database}' AND table = 'records_local'`,
    )
  const answers = await (cluster.isReplicated ? cluster.onReachable(read) : cluster.onNodes(read))
  const nodes = answers.flat()
  return {
    names: nodes.map(({ names }) => names).join(', '),
    unfinished: nodes.flatMap(({ unfinished }) => unfinished)[0],
  }
}

function mutationFault(command: string | undefined): ExportFault {
  const what = command === undefined ? '' : `: ${command.slice(0, 200)}`
  return new ExportFault(
    'altered',
    `records_local is altered again and again, or for long${what}; see system.mutations`,
  )
}

function markStatement(table: string, marks: readonly Mark[]): string {
  const versions = marks.map(({ version }) => keyText(version))
  const rows = marks.map(
    ({ object, paginationKey, version }) =>
      `(${object}, ${keyText(paginationKey)}, ${keyText(version)})`,
  )
  const by = marks.map((mark) => mark.by)
  return `UPDATE ${table} SET by = transform(version, CAST([${versions}], 'Array(UInt64)'), CAST([${by}], 'Array(UInt64)'), by)
    WHERE (object, pagination_key, version) IN (${rows.join(', ')})
    SETTINGS enable_lightweight_update = 1`
}

function keyText({ transaction, index }: Mark['version']): string {
  return String(BigInt(transaction) * 65_536n + BigInt(index))
}
