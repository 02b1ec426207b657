/** Writes of the catalog: keys and values that are put into its database together or not at all. */
import type { RecordsEnvironment } from '../environment.ts'
import { storageError } from '../storage-error.ts'

export interface CatalogBatch {
  readonly puts: readonly (readonly [key: string, value: Uint8Array])[]
  /** Done before the puts. */
  readonly removals: readonly string[]
}

/** Resolves once all of the batch is on disk; rejects when none of it is. */
export type CatalogWrite = (batch: CatalogBatch) => Promise<void>

/** All of it is on disk when this returns, and none of it when it throws STORAGE_UNAVAILABLE. */
export function writeCatalogBatch(records: RecordsEnvironment, batch: CatalogBatch): void {
  const { directory, root, catalog } = records
  try {
    root.transactionSync(() => {
      for (const key of batch.removals) catalog.removeSync(Buffer.from(key))
      for (const [key, value] of batch.puts) catalog.putSync(Buffer.from(key), Buffer.from(value))
    })
  } catch (thrown) {
    throw storageError('the change', thrown, directory)
  }
}
