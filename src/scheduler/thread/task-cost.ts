/** What tasks cost and what their results weigh, as far as it can be told without looking closely. */
import { bytesOf } from '../../executor/task/held-bytes.ts'
import type { Task, TaskResult } from '../../executor/task/task.ts'

/** What a thread does in a millisecond, roughly: only the order of magnitude matters. */
const scannedRows = 10_000
const shreddedRows = 20
const mergedGroups = 2000
const orderedRows = 5000
const printedRows = 50

/** Rows of small requests are about as many at most: then they are sealed. */
const spanRows = 2000
const unifyMs = 50

/** Milliseconds that a worker takes for the task. */
export function estimateMs(task: Task): number {
  switch (task.kind) {
    case 'scan': {
      const all = task.inputs.reduce((sum, input) => sum + inputMs(input), 0)
      return all / (task.share?.tasks ?? 1)
    }
    case 'answer':
      return task.scan.inputs.reduce((sum, input) => sum + inputMs(input), 0)
    case 'finish':
      return task.input.kind === 'rows'
        ? task.input.rows.object.length / orderedRows
        : task.input.partials.reduce((sum, { groupCount }) => sum + groupCount, 0) / mergedGroups
    case 'order':
      return task.lists.reduce((sum, { object }) => sum + object.length, 0) / orderedRows
    case 'print':
    case 'settle':
      return task.relation.rowCount / printedRows
    case 'unify':
      return unifyMs
  }
}

function inputMs(input: Extract<Task, { kind: 'scan' }>['inputs'][number]): number {
  switch (input.kind) {
    case 'segment':
    case 'part':
      return (input.to - input.from) / scannedRows
    case 'delta':
    case 'history':
      return spanRows / shreddedRows
    case 'lost':
      return input.indexes.length / shreddedRows
    case 'records':
      return input.ids.length / shreddedRows
  }
}

/** Bytes of a result that stay with the query until its end; 0 for what soon leaves. */
export function heldBytes(task: Task, result: TaskResult): number {
  const isHeld =
    result.kind === 'groups' ||
    result.kind === 'finish' ||
    result.kind === 'order' ||
    (result.kind === 'rows' && task.kind === 'scan' && task.plan.sort.length > 0)
  return isHeld ? bytesOf(result) : 0
}
