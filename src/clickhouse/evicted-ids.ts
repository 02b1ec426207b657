/** Ids of row versions whose bodies have left the data directory, for who makes what is known of ids again. */
import type { RowKey } from '../type/transaction.ts'
import type { ClickHouseCluster } from './cluster.ts'

export interface IdOfVersion {
  readonly object: number
  readonly id: string
  readonly version: RowKey
}

/** Rows that are read at once. */
const rowsAtOnce = 100_000

/** Of versions up to the transaction, those that are wanted. */
export async function readEvictedIds(
  { entry, settings: { database } }: ClickHouseCluster,
  through: number,
  isWanted: (object: number, id: string) => boolean,
): Promise<readonly IdOfVersion[]> {
  const found: IdOfVersion[] = []
  let [object, version] = [0, '0']
  for (;;) {
    const rows = await entry.longRows<{
      readonly object: number
      readonly version: string
      readonly id: string
    }>(
      `SELECT object, version, id FROM ${database}.records
        WHERE transaction <= ${through} AND NOT deleted AND (object, version) > (${object}, ${version})
        ORDER BY object, version LIMIT ${rowsAtOnce}`,
    )
    for (const row of rows) {
      if (isWanted(row.object, row.id)) found.push({ ...row, version: keyOf(row.version) })
    }
    const last = rows.at(-1)
    if (!last) return found
    object = last.object
    version = last.version
  }
}

function keyOf(version: string): RowKey {
  const number = BigInt(version)
  return { transaction: Number(number / 65_536n), index: Number(number % 65_536n) }
}
