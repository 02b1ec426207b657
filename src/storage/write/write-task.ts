/** What the thread that writes records is asked for. */
import type { AssayError, WireError } from '../../error.ts'
import type { RecordsEnvironment } from '../environment.ts'
import { storageError } from '../storage-error.ts'
import { type CatalogBatch, writeCatalogBatch } from './catalog-batch.ts'
import type { RecordWriter, WriteOutcome, WriteRequest } from './record-writer.ts'

export type WriteTask =
  | { readonly kind: 'rows'; readonly requests: readonly WriteRequest[] }
  | { readonly kind: 'catalog'; readonly batch: CatalogBatch }

/** Of rows, the outcome of each request; of a batch of the catalog, why it was not written. */
export type WriteTaskOutcome = readonly WriteOutcome[] | { readonly error: WireError | undefined }

/** Carries out a task in one commit. */
export function runWriteTask(
  task: WriteTask,
  records: RecordsEnvironment,
  writer: RecordWriter,
): WriteTaskOutcome {
  if (task.kind === 'rows') return writer.write(task.requests)
  try {
    writeCatalogBatch(records, task.batch)
    return { error: undefined }
  } catch (thrown) {
    return { error: storageError('the change', thrown).toWire() }
  }
}

/** The outcome of a task of which nothing was done. */
export function failedWriteTask(task: WriteTask, failure: AssayError): WriteTaskOutcome {
  const error = failure.toWire()
  return task.kind === 'rows' ? task.requests.map(() => ({ error })) : { error }
}
