/** Prints rows: whole stored rows and single fields by copying their text, the rest by evaluating. */
import { ByteWriter } from '../json/byte-writer.ts'
import { compilePrinter } from './print-row.ts'
import { RelationReader } from './relation-batch.ts'
import type { TaskStorage } from './row-run.ts'
import { checkCancelled } from './scan.ts'
import type { PrintResult, PrintTask } from './task.ts'
import { withTraceSets } from './trace-set.ts'

/** No further row is begun when this much is printed. */
const maximumBytes = 4 << 20

/** Prints the rows of the task, or as many of the first as fit into some megabytes. */
export function runPrint(task: PrintTask, storage: TaskStorage): PrintResult {
  return printRows(task, storage, maximumBytes)
}

/** @param enoughBytes no further row is begun when so much is printed */
export function printRows(task: PrintTask, storage: TaskStorage, enoughBytes: number): PrintResult {
  const { plan, relation, cancelled } = task
  const reader = new RelationReader(relation, plan.objects, storage, cancelled)
  const printer = compilePrinter(plan.output, reader, withTraceSets(task.context, task.traceSets))
  const separator = Buffer.from(task.separator)
  const out = new ByteWriter(4096)
  let printed = 0
  for (const { batch } of reader.batches()) {
    const print = printer(batch)
    for (let row = 0; row < batch.rowCount; row++) {
      if (out.length >= enoughBytes) return { kind: 'print', rowCount: printed, bytes: out.view() }
      checkCancelled(cancelled)
      if (printed > 0) out.copy(separator)
      print(row, out)
      printed++
    }
  }
  return { kind: 'print', rowCount: printed, bytes: out.view() }
}
