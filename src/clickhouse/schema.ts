/** Makes the tables on all nodes, and sees that those that are there are as they were made. */
import type { ClickHouseCluster } from './cluster.ts'
import type { ClickHouseNode } from './connection.ts'
import { ExportFault } from './fault.ts'
import {
  addColumns,
  type Column,
  createLocalTable,
  createRecords,
  createView,
  dropView,
  type LocalTable,
  localTables,
  recordColumns,
  schemaVersion,
  views,
} from './tables.ts'

interface StoredColumn {
  readonly table: string
  readonly name: string
  readonly type: string
}

type Tables = ReadonlyMap<string, ReadonlyMap<string, string>>

/** What tells a node's table of records from another one of its name, and from one that was emptied. */
export interface KeptTable {
  readonly uuid: string
  readonly hasRows: boolean
}

/** By the names of nodes. */
export type KeptTables = Readonly<Record<string, KeptTable>>

export interface PreparedTables {
  /** Tables of records as they were found. */
  readonly tables: KeptTables
  /** Whether there is a table that some node had not. */
  readonly isAnyMade: boolean
}

/**
 * @param kept tables of records as they were seen last
 * @param beforeMaking called before a table of records is made that was lost, or never was, and when there is another one
 * in its place, or it was emptied
 */
export async function prepareTables(
  cluster: ClickHouseCluster,
  kept: KeptTables,
  beforeMaking: () => void,
): Promise<PreparedTables> {
  const { database } = cluster.settings
  const found = await cluster.onNodes((node) => tableOf(node, database))
  const isKept = found.map((table, place) => {
    return table !== undefined && isSame(kept[cluster.nodes[place]!.node.name], table)
  })
  if (isAnyLost(cluster, isKept)) beforeMaking()
  const had = new Set(cluster.nodes.flatMap(({ node }, place) => (found[place] ? [node] : [])))
  const made = await cluster.onNodes((node) => prepareNode(cluster, node, had.has(node)))
  return { tables: byNode(cluster, found), isAnyMade: made.some(Boolean) }
}

/** Tables of records as they are. */
export async function readTables(cluster: ClickHouseCluster): Promise<KeptTables> {
  const { database } = cluster.settings
  return byNode(cluster, await cluster.onNodes((node) => tableOf(node, database)))
}

function byNode(
  { nodes }: ClickHouseCluster,
  tables: readonly (KeptTable | undefined)[],
): KeptTables {
  return Object.fromEntries(
    nodes.flatMap(({ node }, place) => {
      const table = tables[place]
      return table ? [[node.name, table] as const] : []
    }),
  )
}

/** Undefined when the node has none. */
async function tableOf(node: ClickHouseNode, database: string): Promise<KeptTable | undefined> {
  const [row] = await node.rows<{ readonly uuid: string; readonly rows: string | null }>(
    `SELECT toString(uuid) AS uuid, total_rows AS rows FROM system.tables
      WHERE database = '${database}' AND name = 'records_local'`,
  )
  return row && { uuid: row.uuid, hasRows: Number(row.rows ?? 1) > 0 }
}

/** A table that is seen for the first time is taken as it is. */
function isSame(kept: KeptTable | undefined, found: KeptTable): boolean {
  return !kept || (kept.uuid === found.uuid && (found.hasRows || !kept.hasRows))
}

/** @param isKept of each node's table of records. Of a replicated one a new replica gets what the others have. */
function isAnyLost(
  { nodes, isReplicated }: ClickHouseCluster,
  isKept: readonly boolean[],
): boolean {
  if (!isReplicated) return !isKept.every(Boolean)
  const kept = new Set(nodes.filter((_, place) => isKept[place]).map(({ shard }) => shard))
  return nodes.some(({ shard }) => !kept.has(shard))
}

/** Whether a table had to be made. */
async function prepareNode(
  cluster: ClickHouseCluster,
  node: ClickHouseNode,
  hadRecords: boolean,
): Promise<boolean> {
  const { database, cluster: name } = cluster.settings
  const before = await columnsToBegin(cluster, node)
  if (hadRecords && !before.has('records_local')) {
    const dropped = `${database}.records_local on ${node.name} was dropped just now`
    throw new ExportFault('altered', dropped)
  }
  if (before.size === 0) await node.run(`CREATE DATABASE IF NOT EXISTS ${database}`)
  for (const table of localTables) {
    if (before.has(table.name)) continue
    await node.run(createLocalTable(database, table, cluster.isReplicated))
  }
  if (!before.has('records')) await node.run(createRecords(database, name))
  for (const [name, select] of views) {
    if (!before.has(name)) await node.run(createView(database, name, select(database)))
  }
  const after =
    before.size > localTables.length + views.size ? before : await columnsOf(node, database)
  for (const table of localTables) requireColumns(node, database, table, after.get(table.name))
  const records = { name: 'records', columns: recordColumns }
  requireColumns(node, database, records, after.get('records'))
  await requireSchema(node, database)
  return localTables.some((table) => !before.has(table.name))
}

/** What tables a node has, once those of an earlier schema have the columns that came later. */
async function columnsToBegin(
  { settings }: ClickHouseCluster,
  node: ClickHouseNode,
): Promise<Tables> {
  const { database, cluster } = settings
  const found = await columnsOf(node, database)
  if (!found.has('service') || !found.has('records_local')) return found
  const stored = await storedSchema(node, database)
  const later = recordColumns.filter(({ since = 1 }) => since > stored)
  if (stored >= schemaVersion || later.length === 0) return found
  await node.run(addColumns(database, 'records_local', later))
  const isTable = cluster !== undefined
  if (isTable && found.has('records')) await node.run(addColumns(database, 'records', later))
  const outdated = isTable ? [...views.keys()] : ['records', ...views.keys()]
  for (const view of outdated) await node.run(dropView(database, view))
  return columnsOf(node, database)
}

/** By table, the types by name. */
async function columnsOf(node: ClickHouseNode, database: string): Promise<Tables> {
  const rows = await node.rows<StoredColumn>(
    `SELECT table, name, type FROM system.columns WHERE database = '${database}'`,
  )
  const known = new Set(['records', ...localTables.map(({ name }) => name), ...views.keys()])
  const tables = new Map<string, Map<string, string>>()
  for (const { table, name, type } of rows) {
    if (!known.has(table)) continue
    tables.set(table, (tables.get(table) ?? new Map()).set(name, type))
  }
  return tables
}

/** Further columns are let be. */
function requireColumns(
  node: ClickHouseNode,
  database: string,
  { name: table, columns }: Pick<LocalTable, 'name' | 'columns'>,
  stored: ReadonlyMap<string, string> | undefined,
): void {
  const faults = columns.flatMap(({ name, type }: Column) => {
    const found = stored?.get(name)
    if (found === undefined) return [`has no column ${name}`]
    return plainType(found) === plainType(type) ? [] : [`has ${name} as ${found}, not ${type}`]
  })
  if (faults.length === 0) return
  throw new ExportFault(
    'altered',
    `${database}.${table} on ${node.name} ${faults.join(' and ')}: somebody altered it. Take that back, or drop the table, which is then made and filled anew`,
  )
}

function plainType(type: string): string {
  return type.replaceAll(/\s/g, '')
}

async function requireSchema(node: ClickHouseNode, database: string): Promise<void> {
  const stored = await storedSchema(node, database)
  if (stored > schemaVersion) {
    throw new ExportFault(
      'unfit',
      `the tables of ${database} on ${node.name} are those of a later version of Assay (schema ${stored}, here ${schemaVersion}): update Assay`,
    )
  }
  if (stored === schemaVersion) return
  await node.run(
    `INSERT INTO ${database}.service VALUES ('schema', '', '${schemaVersion}', now64(6))`,
  )
}

/** 0 of tables that none was noted for yet. */
async function storedSchema(node: ClickHouseNode, database: string): Promise<number> {
  const [row] = await node.rows<{ readonly version: string }>(
    `SELECT max(toUInt32OrZero(value)) AS version FROM ${database}.service WHERE name = 'schema'`,
  )
  return Number(row?.version ?? 0)
}
