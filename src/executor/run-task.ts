import { toAssayError } from '../error.ts'
import { runPrint } from './print.ts'
import type { TaskStorage } from './row-run.ts'
import { runScan } from './scan.ts'
import type { Task, TaskOutcome } from './task.ts'

/** Runs a task to its end, in whatever thread. Failures are returned, not thrown. */
export function runTask(task: Task, storage: TaskStorage): TaskOutcome {
  try {
    return { result: task.kind === 'scan' ? runScan(task, storage) : runPrint(task, storage) }
  } catch (thrown) {
    return { error: toAssayError(thrown).toWire() }
  }
}
