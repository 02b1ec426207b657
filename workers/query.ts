/** Runs tasks of queries. Each thread opens the environments for itself, read-only. */
import { workerData } from 'node:worker_threads'
import { runTask } from '../src/executor/run-task.ts'
import { givenBytes } from '../src/executor/task/held-bytes.ts'
import { type PackedTask, unpackTask } from '../src/executor/task/packed-task.ts'
import { shareResult } from '../src/executor/task/share-result.ts'
import { numberThread } from '../src/executor/task/shared-inputs.ts'
import type { TaskOutcome } from '../src/executor/task/task.ts'
import { releaseWhenIdle } from '../src/executor/thread/idle-memory.ts'
import { ByteWriter } from '../src/json/byte-writer.ts'
import { openRecords, openSegments } from '../src/storage/environment.ts'
import { TaskReads } from '../src/storage/read/task-reads.ts'
import { openWhenAble } from './open-when-able.ts'
import { threadNumber } from './thread-number.ts'
import { lowerThreadPriority, niceness } from './thread-priority.ts'

lowerThreadPriority(niceness.queries)
numberThread(threadNumber)

const { directory } = workerData as { readonly directory: string }
const reads = openWhenAble(
  () =>
    new TaskReads(
      openRecords(directory, { readOnly: true }),
      openSegments(directory, { readOnly: true }),
    ),
)

/** What is printed goes here first: new memory that grows for each megabyte would cost as much as to fill it. */
let out = new ByteWriter(4096)
const keptBytes = 8 * 2 ** 20

/**
 * Gives one outcome, in a list so that it can be taken out (`scheduler/thread/query-pool.ts`).
 *
 * No memory of a result is handed over. To hand them over would detach their memory, and
 * once any memory was detached in a thread, every access to a typed array there has to ask whether
 * its memory is: scans take 1.3 to 2 times as long.
 */
export default function query(packed: PackedTask): TaskOutcome[] {
  const task = unpackTask(packed)
  try {
    return [reads().during((storage) => runTask(task, storage, out, shareResult))]
  } finally {
    if (out.bytes.length > keptBytes) out = new ByteWriter(4096)
    releaseWhenIdle(givenBytes(task))
  }
}
