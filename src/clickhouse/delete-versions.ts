/** Deletes row versions from the nodes, one by one. */
import type { ClickHouseCluster } from './cluster.ts'

const versionsAtOnce = 5000

/** @param versions as the column has them */
export async function deleteVersions(
  cluster: ClickHouseCluster,
  object: number,
  versions: readonly string[],
): Promise<void> {
  const table = `${cluster.settings.database}.records_local`
  for (let from = 0; from < versions.length; from += versionsAtOnce) {
    const some = versions.slice(from, from + versionsAtOnce).join(', ')
    await cluster.change(
      table,
      `DELETE FROM ${table} WHERE object = ${object} AND version IN (${some}) SETTINGS lightweight_deletes_sync = 2`,
    )
  }
}

/** Takes what was deleted from the disks, too, behind other work of the nodes. */
export async function wipeDeleted(cluster: ClickHouseCluster): Promise<void> {
  const table = `${cluster.settings.database}.records_local`
  await cluster.change(table, `ALTER TABLE ${table} APPLY DELETED MASK SETTINGS mutations_sync = 0`)
}
