/** Records in the table of a real cluster without a service: encoded as the export does, and put in. */
import { RowEncoder } from '../../src/clickhouse/row-encoder.ts'
import {
  createLocalTable,
  createRecords,
  localTables,
  recordColumns,
} from '../../src/clickhouse/tables.ts'
import { openRecords } from '../../src/storage/environment.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import { type Cluster, clusterName } from '../cluster/cluster.ts'
import type { ArbitraryRecord } from './arbitrary-record.ts'
import { type Loaded, load, newExperiment } from './oracle-check.ts'
import { GoldenStore } from './slt-runner.ts'

const tables = localTables.filter(({ name }) => ['records_local', 'arrived'].includes(name))
const columns = recordColumns.map(({ name }) => `\`${name}\``).join(', ')

/** As it is noted on nodes that they have all there is. */
export const arrivedRound = 'test'

/** Makes the tables of records anew on all nodes. */
export async function makeTables(cluster: Cluster, database: string): Promise<void> {
  for (const node of cluster.nodes) {
    await cluster.ask(node, `DROP DATABASE IF EXISTS ${database} SYNC`)
    await cluster.ask(node, `CREATE DATABASE ${database}`)
    for (const table of tables) await cluster.ask(node, createLocalTable(database, table, false))
    await cluster.ask(node, createRecords(database, clusterName))
    const arrived = `'${arrivedRound}', ${2n ** 64n - 1n}, now64(6)`
    await cluster.ask(node, `INSERT INTO ${database}.arrived VALUES (${arrived})`)
  }
}

/** Puts all that a data directory has into them. Returns the numbers of its objects, in the order in which they were made. */
export async function putRows(
  cluster: Cluster,
  database: string,
  directory: string,
): Promise<number[]> {
  const records = openRecords(directory, { readOnly: true })
  try {
    const reader = new RecordReader(records)
    const encoder = new RowEncoder()
    const objects = [...reader.objectsWrittenAfter(0)].sort((a, b) => a - b)
    for (const object of objects) {
      for (const { key, view } of reader.readDelta(object, 0, reader.lastTransaction())) {
        const by = reader.supersededBy(object, view.paginationKey, key)
        const trace = JSON.parse(view.fieldText('root_span_id') ?? '""') as string
        encoder.add({ object, version: key, view, trace, by })
      }
    }
    const insert = `INSERT INTO ${database}.records (${columns}) FORMAT RowBinary`
    const query = new URLSearchParams({ query: insert, distributed_foreground_insert: '1' })
    const response = await fetch(`${cluster.urlOf(1)}/?${query}`, {
      method: 'POST',
      body: encoder.rows.out.view(),
    })
    if (!response.ok) throw new Error(await response.text())
    return objects
  } finally {
    await records.root.close()
  }
}

/** Tables that have these records and nothing else: those of the experiment `e`. */
export async function loadTable(
  cluster: Cluster,
  database: string,
  given: readonly ArbitraryRecord[],
): Promise<{ readonly loaded: Loaded; readonly object: number }> {
  const store = await GoldenStore.open({ state: 'delta', workers: 0 })
  try {
    const loaded = await load([store], given)
    await store.engine.close()
    await makeTables(cluster, database)
    const [object] = await putRows(cluster, database, store.directory)
    return { loaded, object: object! }
  } finally {
    await store.close()
  }
}

/** The same of records as JSON texts. Returns the number of their experiment. */
export async function loadTexts(
  cluster: Cluster,
  database: string,
  records: readonly string[],
): Promise<number> {
  const store = await GoldenStore.open({ state: 'delta', workers: 0 })
  try {
    const id = await newExperiment(store)
    const body = Buffer.from(`{"events":[${records.join(',')}]}`)
    const object = { type: 'experiment', id } as const
    await store.engine.insert({ body, form: 'events', object, view: store.gate })
    await store.engine.close()
    await makeTables(cluster, database)
    const [number] = await putRows(cluster, database, store.directory)
    return number!
  } finally {
    await store.close()
  }
}

/** Span ids of the rows of an object that surely pass each of some conditions, and of those that may. */
export async function spansWhere(
  cluster: Cluster,
  database: string,
  cases: readonly { readonly sure: string; readonly may: string }[],
  object: number,
): Promise<(readonly [certain: string[], possible: string[]])[]> {
  const columns = cases.flatMap(({ sure, may }, i) => [
    `groupArrayIf(span_id, ${sure}) AS s${i}`,
    `groupArrayIf(span_id, ${may}) AS m${i}`,
  ])
  const [row] = await cluster.ask<Record<string, string[]>>(
    1,
    `SELECT ${columns.join(', ')} FROM ${database}.records WHERE object = ${object}`,
  )
  return cases.map((_, i) => [row![`s${i}`]!, row![`m${i}`]!] as const)
}
