/** Encodes batches for the thread of the export, which sends them. Each opens the environment for itself, read-only. */
import { parentPort, workerData } from 'node:worker_threads'
import { encodeBatch } from '../src/clickhouse/batch-reader.ts'
import type { EncodeOutcome, EncodeTask } from '../src/clickhouse/encode-task.ts'
import { sourceOf } from '../src/clickhouse/read-records.ts'
import { releaseWhenIdle } from '../src/executor/thread/idle-memory.ts'
import { openRecords } from '../src/storage/environment.ts'
import { SharedRoom } from '../src/storage/shared-room.ts'
import { openWhenAble } from './open-when-able.ts'
import { lowerThreadPriority, niceness } from './thread-priority.ts'

const { directory } = workerData as { readonly directory: string }
let objects: ReadonlySet<number> = new Set()
const within = openWhenAble(() =>
  sourceOf(openRecords(directory, { readOnly: true }), (object) => objects.has(object)),
)
lowerThreadPriority(niceness.copies)

parentPort!.on('message', (task: EncodeTask) => parentPort!.postMessage(encode(task)))

function encode({ batch, run, objects: there, memory }: EncodeTask): EncodeOutcome {
  objects = new Set(there)
  try {
    const encoded = within()((source) => encodeBatch(source, batch, run))
    return { encoded: { ...encoded, bytes: new SharedRoom(memory).copy(encoded.bytes) } }
  } catch (thrown) {
    // Whoever asked encodes it then, and says what is wrong.
    return { error: String(thrown) }
  } finally {
    releaseWhenIdle()
  }
}
