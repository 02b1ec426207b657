/** The thread that writes records, and the catalog beside them: one per data directory. */
import { workerData } from 'node:worker_threads'
import { openRecords } from '../src/storage/environment.ts'
import { RecordWriter } from '../src/storage/write/record-writer.ts'
import {
  runWriteTask,
  type WriteTask,
  type WriteTaskOutcome,
} from '../src/storage/write/write-task.ts'

const { directory } = workerData as { readonly directory: string }
const records = openRecords(directory, { readOnly: false })
const writer = new RecordWriter(records)

export default function write(task: WriteTask): WriteTaskOutcome {
  return runWriteTask(task, records, writer)
}
