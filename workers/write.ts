/** The thread that writes records, and the catalog beside them: one per data directory. */
import { workerData } from 'node:worker_threads'
import { openRecords, type RecordsEnvironment } from '../src/storage/environment.ts'
import { storageError } from '../src/storage/storage-error.ts'
import { RecordWriter } from '../src/storage/write/record-writer.ts'
import {
  failedWriteTask,
  runWriteTask,
  type WriteTask,
  type WriteTaskOutcome,
} from '../src/storage/write/write-task.ts'

const { directory } = workerData as { readonly directory: string }

interface Opened {
  readonly records: RecordsEnvironment
  readonly writer: RecordWriter
}

let opened: Opened | undefined

/** A thread that ended because it cannot open its files would leave whoever waits for it without an answer. */
function open(): Opened {
  if (opened) return opened
  const records = openRecords(directory, { readOnly: false })
  opened = { records, writer: new RecordWriter(records) }
  return opened
}

try {
  open()
} catch {
  // The first task says so, unless it can be done by then.
}

export default function write(task: WriteTask): WriteTaskOutcome {
  try {
    const { records, writer } = open()
    return runWriteTask(task, records, writer)
  } catch (thrown) {
    return failedWriteTask(task, storageError('the records', thrown, directory))
  }
}
