/** Which objects there are, and the removal of the records of those that were removed. */
import type { ObjectIdentity } from '../type/record.ts'
import type { ClickHouseCluster } from './cluster.ts'

export interface ExportedObject extends ObjectIdentity {
  readonly number: number
  readonly name: string
}

/** Objects of one statement. */
const objectsAtOnce = 5000

export class ObjectTable {
  readonly #cluster: ClickHouseCluster
  /** When something was written last, in microseconds since 1970: what is written is later, whatever the clock does. */
  #last = 0

  constructor(cluster: ClickHouseCluster) {
    this.#cluster = cluster
  }

  /** Numbers of those that some node has, and that were not removed there. */
  async present(): Promise<Set<number>> {
    const { database } = this.#cluster.settings
    const rows = await this.#cluster.onNodes((node) =>
      node.rows<{ readonly object: number; readonly at: string }>(
        `SELECT object, toUnixTimestamp64Micro(at) AS at FROM ${database}.objects FINAL WHERE NOT removed
          UNION ALL SELECT DISTINCT object, 0 AS at FROM ${database}.records_local`,
      ),
    )
    for (const { at } of rows.flat()) this.#last = Math.max(this.#last, Number(at))
    return new Set(rows.flat().map(({ object }) => object))
  }

  async write(objects: readonly ExportedObject[]): Promise<void> {
    for (let from = 0; from < objects.length; from += objectsAtOnce) {
      await this.#insert(objects.slice(from, from + objectsAtOnce), false)
    }
  }

  /** Removes the records of objects, and says so in the table. */
  async remove(numbers: readonly number[]): Promise<void> {
    if (numbers.length === 0) return
    const { database } = this.#cluster.settings
    const records = `${database}.records_local`
    await this.#cluster.change(
      records,
      `DELETE FROM ${records} WHERE object IN (${numbers.join(', ')}) SETTINGS lightweight_deletes_sync = 2`,
    )
    const removed = numbers.map((number) => {
      return { number, name: '', id: '', projectId: '', organizationId: '', type: '' as const }
    })
    await this.#insert(removed, true)
  }

  async #insert(
    objects: readonly (Omit<ExportedObject, 'type'> & { readonly type: string })[],
    removed: boolean,
  ): Promise<void> {
    const { database } = this.#cluster.settings
    this.#last = Math.max(this.#last + 1, Date.now() * 1000)
    const at = (this.#last / 1e6).toFixed(6)
    const columns = 'object, type, id, name, project_id, organization_id, removed, at'
    const rows = objects
      .map(({ number, type, id, name, projectId, organizationId }) =>
        JSON.stringify([number, type, id, name, projectId, organizationId, removed, at]),
      )
      .join('\n')
    await this.#cluster.onNodes((node) =>
      node.insertText(
        `INSERT INTO ${database}.objects (${columns}) FORMAT JSONCompactEachRow`,
        rows,
      ),
    )
  }
}
