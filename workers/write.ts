/** The thread that writes records, and the catalog beside them: one per data directory. */
import { workerData } from 'node:worker_threads'
import { releaseWhenIdle } from '../src/executor/thread/idle-memory.ts'
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
  return { records, writer: new RecordWriter(records) }
})

export default function write(task: WriteTask): WriteTaskOutcome {
  try {
    const { records, writer } = opened()
    return runWriteTask(task, records, writer)
  } catch (thrown) {
    return failedWriteTask(task, storageError('the records', thrown, directory))
  } finally {
    releaseWhenIdle()
  }
}
