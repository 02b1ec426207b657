/** The thread that writes records: one per data directory. */
import { workerData } from 'node:worker_threads'
import { openRecords } from '../src/storage/environment.ts'
import {
  RecordWriter,
  type WriteOutcome,
  type WriteRequest,
} from '../src/storage/write/record-writer.ts'

const { directory } = workerData as { readonly directory: string }
const writer = new RecordWriter(openRecords(directory, { readOnly: false }))

/** Writes the requests in one commit. */
export default function write(requests: readonly WriteRequest[]): WriteOutcome[] {
  return writer.write(requests)
}
