import { toAssayError, unreachable } from '../error.ts'
import type { ByteWriter } from '../json/byte-writer.ts'
import { endBatches } from '../kernel/arena.ts'
import { LentRows } from '../storage/row/lent-rows.ts'
import { runAnswer } from './answer.ts'
import { runFinish } from './finish.ts'
import { runOrder } from './order/row-buffer.ts'
import { runInferForm } from './print/infer-form.ts'
import { runPrint } from './print/print.ts'
import type { TaskStorage } from './scan/row-run.ts'
import { runScan } from './scan.ts'
import { runTakeGroups } from './take-groups.ts'
import type { Task, TaskOutcome, TaskResult } from './task/task.ts'
import { checkCancelled, watchCancelled } from './thread/cancelled.ts'
import { isOutOfRoom, outOfMemory } from './thread/memory-limit.ts'
import { runUnify } from './unify.ts'

/**
 * Runs a task to its end, in whatever thread. Failures are returned, not thrown.
 *
 * @param out where JSON and CSV are written to: they are valid until that is written to again
 * @param give makes of the result what is to be returned
 */
export function runTask(
  task: Task,
  storage: TaskStorage,
  out?: ByteWriter,
  give = (result: TaskResult) => result,
): TaskOutcome {
  watchCancelled(task.kind === 'answer' ? task.scan.cancelled : task.cancelled)
  const lent = lentOf(task)
  try {
    // It may have waited for the thread.
    checkCancelled()
    if (lent.length > 0) storage.records.lend(LentRows.of(lent))
    return { result: give(run(task, storage, out)) }
  } catch (thrown) {
    return { error: toAssayError(isOutOfRoom(thrown) ? outOfMemory(thrown) : thrown).toWire() }
  } finally {
    if (lent.length > 0) storage.records.lend(undefined)
    watchCancelled(undefined)
    endBatches()
  }
}

/** Rows that come with the task. */
export function lentOf(task: Task): readonly SharedArrayBuffer[] {
  switch (task.kind) {
    case 'scan':
      return [
        ...new Set(task.inputs.flatMap((input) => (input.kind === 'lent' ? [input.memory] : []))),
        ...(task.lent ?? []),
      ]
    case 'answer':
    case 'print':
    case 'infer form':
    case 'finish':
      return task.lent ?? []
    default:
      return []
  }
}

function run(task: Task, storage: TaskStorage, out: ByteWriter | undefined): TaskResult {
  switch (task.kind) {
    case 'scan':
      return runScan(task, storage)
    case 'take groups':
      return runTakeGroups(task, storage)
    case 'print':
      return runPrint(task, storage, out)
    case 'infer form':
      return runInferForm(task, storage)
    case 'finish':
      return runFinish(task, storage)
    case 'order':
      return runOrder(task)
    case 'unify':
      return runUnify(task, storage)
    case 'answer':
      return runAnswer(task, storage, out)
    default:
      return unreachable(task)
  }
}
