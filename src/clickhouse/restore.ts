/** Makes a data directory from what the nodes have: the catalog, and all records up to the last transaction that has arrived. */
import { RemovedObjects } from '../catalog/removed-objects.ts'
import { ByteWriter } from '../json/byte-writer.ts'
import { EntryListWriter } from '../storage/backup/entry-list.ts'
import {
  type MissingRows,
  RecordsRestore,
  type RestoredCounts,
} from '../storage/backup/restore-records.ts'
import type { RecordsEnvironment } from '../storage/environment.ts'
import { rowVersionKey } from '../storage/record-key.ts'
import { encodeLogEntry, encodeSpill, type ObjectWrite } from '../storage/record-log.ts'
import { packedBlock, singleRow } from '../storage/row/row-block.ts'
import { RowBuilder } from '../storage/row/row-builder.ts'
import type { RowKey } from '../type/transaction.ts'
import type { ClickHouseCluster } from './cluster.ts'
import { ExportFault } from './fault.ts'
import { type ExportedRow, writeRow } from './restored-row.ts'

export interface RestoredFromExport extends RestoredCounts {
  readonly missing: readonly MissingRows[]
}

interface LoggedObject {
  readonly object: number
  readonly transaction: string
  readonly first: string
  readonly rows: string
  readonly supersessions: string
  readonly bytes: string
}

interface StoredEntry {
  readonly key: string
  readonly value: string
}

/** Of bodies that are asked for at once, and of rows in a block. */
const bytesAtOnce = 32 * 2 ** 20
const rowsPerBlock = 128
const bytesPerBlock = 256 * 1024
const entriesAtOnce = 20_000

/**
 * @param records empty, and open for writing
 * @param through the last transaction that has arrived as a whole
 * @param onProgress told of the rows that are there, and of all
 */
export async function restoreExport(
  cluster: ClickHouseCluster,
  records: RecordsEnvironment,
  through: number,
  onProgress: (done: number, total: number) => void,
): Promise<RestoredFromExport> {
  await restoreCatalog(cluster, records)
  const removed = new RemovedObjects()
  for (const { key, value } of records.catalog.getRange()) removed.note(key.toString(), value)
  records.root.resetReadTxn()
  const restore = new RecordsRestore(records, { through, removed: removed.numbers() })
  const log = await readLog(cluster, through)
  const total = log.reduce((sum, { rows }) => sum + Number(rows), 0)
  restore.writeLog(logList(log))
  let done = 0
  for (const { from, to } of rangesOf(log)) {
    const rows = await readRows(cluster, from, to)
    restore.writeRows(rowList(rows))
    done += rows.length
    onProgress(done, total)
  }
  const { counts, missing } = restore.finish()
  return { ...counts, missing }
}

async function restoreCatalog(
  cluster: ClickHouseCluster,
  records: RecordsEnvironment,
): Promise<void> {
  const { database } = cluster.settings
  let last = ''
  for (;;) {
    const entries: StoredEntry[] = await cluster.entry.longRows<StoredEntry>(
      `SELECT key, value FROM ${database}.catalog FINAL WHERE NOT removed AND key > unhex('${Buffer.from(last).toString('hex')}')
        ORDER BY key LIMIT ${entriesAtOnce}`,
    )
    const list = new EntryListWriter()
    for (const { key, value } of entries) list.add(Buffer.from(key), Buffer.from(value))
    RecordsRestore.writeCatalog(records, list.take(), () => false)
    const end = entries.at(-1)
    if (end === undefined) break
    last = end.key
  }
  records.root.resetReadTxn()
  if (last === '') {
    throw new ExportFault('unfit', `${database}.catalog is empty: nothing can be restored from it`)
  }
}

function readLog(cluster: ClickHouseCluster, through: number): Promise<LoggedObject[]> {
  return cluster.entry.longRows<LoggedObject>(
    `SELECT transaction, object, min(intDiv(version, 65536)) AS first, count() AS rows,
        countIf(previous != 0 AND pagination_key != version) AS supersessions, sum(length(body)) AS bytes
      FROM ${cluster.settings.database}.records WHERE transaction <= ${through}
      GROUP BY transaction, object ORDER BY transaction, object`,
  )
}

function logList(log: readonly LoggedObject[]): Buffer {
  const list = new EntryListWriter()
  let objects: ObjectWrite[] = []
  let first = Number.POSITIVE_INFINITY
  log.forEach((each, place) => {
    const transaction = Number(each.transaction)
    const { object } = each
    const [rows, supersessions] = [Number(each.rows), Number(each.supersessions)]
    objects.push({ object, rows, supersessions, bytes: Number(each.bytes) })
    first = Math.min(first, Number(each.first))
    if (log[place + 1]?.transaction === each.transaction) return
    const entry = encodeLogEntry({ transaction, first, objects })
    list.add(entry.key, entry.value)
    if (first < transaction) {
      const spill = encodeSpill({ first, last: transaction })
      list.add(spill.key, spill.value)
    }
    objects = []
    first = Number.POSITIVE_INFINITY
  })
  return list.take()
}

/** Transactions after `from` and up to `to`, whose rows are asked for at once. */
function* rangesOf(log: readonly LoggedObject[]) {
  let from = 0
  let bytes = 0
  for (const [place, each] of log.entries()) {
    bytes += Number(each.bytes)
    const isEnd = log[place + 1]?.transaction !== each.transaction
    const isLast = place === log.length - 1
    if (!isEnd || (bytes < bytesAtOnce && !isLast)) continue
    const to = Number(each.transaction)
    yield { from, to }
    from = to
    bytes = 0
  }
}

function readRows(cluster: ClickHouseCluster, from: number, to: number): Promise<ExportedRow[]> {
  return cluster.entry.longRows<ExportedRow>(
    `SELECT object, version, pagination_key, transaction, previous, flags, toUnixTimestamp64Micro(created) AS created, body
      FROM ${cluster.settings.database}.records WHERE transaction > ${from} AND transaction <= ${to}
      ORDER BY object, version`,
  )
}

/** Rows in the order of objects and versions, in blocks. */
function rowList(rows: readonly ExportedRow[]): Buffer {
  const list = new EntryListWriter()
  const out = new ByteWriter(2 ** 20)
  const builder = new RowBuilder(out)
  let object: number | undefined
  let versions: RowKey[] = []
  let bytes: Buffer[] = []
  let length = 0
  const end = () => {
    const [first] = versions
    if (first === undefined) return
    const key = rowVersionKey(object!, first)
    list.add(
      key,
      versions.length === 1 ? singleRow(key, bytes[0]!) : packedBlock(key, versions, bytes),
    )
    versions = []
    bytes = []
    length = 0
  }
  for (const row of rows) {
    const isFull = versions.length >= rowsPerBlock || length >= bytesPerBlock
    if (object !== row.object || isFull) end()
    object = row.object
    out.truncate(0)
    const version = writeRow(row, builder)
    versions.push(version)
    bytes.push(Buffer.from(out.view()))
    length += out.length
  }
  end()
  return list.take()
}
