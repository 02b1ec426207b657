/** The thread that writes records, and the catalog beside them: one per data directory. */
import { workerData } from 'node:worker_threads'
import { releaseWhenIdle } from '../src/executor/thread/idle-memory.ts'
import {
  type CopyOutcome,
  type CopyTask,
  RecordCopies,
} from '../src/storage/backup/copy-records.ts'
import { openRecords } from '../src/storage/environment.ts'
import { storageError } from '../src/storage/storage-error.ts'
import { RecordWriter } from '../src/storage/write/record-writer.ts'
import {
  failedWriteTask,
  runWriteTask,
  type WriteTask,
  type WriteTaskOutcome,
} from '../src/storage/write/write-task.ts'
import { openWhenAble } from './open-when-able.ts'

const { directory } = workerData as { readonly directory: string }

const opened = openWhenAble(() => {
  const records = openRecords(directory, { readOnly: false })
  return { records, writer: new RecordWriter(records), copies: new RecordCopies(records) }
})

export default function write(task: WriteTask | CopyTask): WriteTaskOutcome | CopyOutcome {
  try {
    const { records, writer, copies } = opened()
    return task.kind === 'copy' ? copies.write(task.copied) : runWriteTask(task, records, writer)
  } catch (thrown) {
    const error = storageError('the records', thrown, directory)
    return task.kind === 'copy' ? { error: error.toWire() } : failedWriteTask(task, error)
  } finally {
    releaseWhenIdle()
  }
}
