/** Runs tasks of queries. Each thread opens both environments for itself, read-only. */

import { workerData } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { runTask } from '../src/executor/run-task.ts'
import { buffersOf, type Task } from '../src/executor/task.ts'
import { openRecords, openSegments } from '../src/storage/environment.ts'
import { TaskReads } from '../src/storage/task-reads.ts'

const { directory } = workerData as { readonly directory: string }
const reads = new TaskReads(
  openRecords(directory, { readOnly: true }),
  openSegments(directory, { readOnly: true }),
)

/** Arrays of the result are handed over, not copied. */
export default function query(task: Task): unknown {
  const outcome = reads.during((storage) => runTask(task, storage))
  if ('error' in outcome) return outcome
  return move({ [transferableSymbol]: buffersOf(outcome.result), [valueSymbol]: outcome })
}
