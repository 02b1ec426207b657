/** Prints rows: whole stored rows and single fields by copying their text, the rest by evaluating. */
import { fieldsOf } from '../../binder/bound.ts'
import { unreachable } from '../../error.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { withSemiJoinSets } from '../expression/semi-join-set.ts'
import type { Relation } from '../relation/relation.ts'
import { RelationReader, type RowSources } from '../relation/relation-batch.ts'
import type { TaskStorage } from '../scan/row-run.ts'
import type { PrintResult, PrintTask } from '../task/task.ts'
import { checkCancelled } from '../thread/cancelled.ts'
import { type PrintInput, printColumns, printCsv } from './print-columns.ts'
import { compilePrinter } from './print-row.ts'
import type { PrintedRows } from './row-form.ts'

/** No further row is begun when this much is printed. */
const maximumBytes = 4 << 20

/**
 * Prints the rows of the task, or as many of the first as fit into some megabytes.
 *
 * @param out see `printRows`
 */
export function runPrint(task: PrintTask, storage: TaskStorage, out?: ByteWriter): PrintResult {
  return { kind: 'print', ...printRows(task, storage, maximumBytes, out) }
}

/**
 * @param enoughBytes no further row is begun when so much is printed
 * @param out where JSON and CSV are written to, from its start; undefined: to memory of its own
 */
export function printRows(
  { plan, context, semiJoinSets, relation, segments, form }: Omit<PrintTask, 'kind' | 'cancelled'>,
  storage: TaskStorage,
  enoughBytes: number,
  out?: ByteWriter,
): PrintedRows {
  const input: PrintInput = {
    output: plan.output,
    reader: printReader(plan, relation, { segments, storage }),
    context: withSemiJoinSets(context, semiJoinSets),
    enoughBytes,
  }
  switch (form.kind) {
    case 'json':
      return printJson(form.separator, input, out)
    case 'csv':
      return printCsv(form, input, out)
    case 'arrow':
    case 'parquet':
      return printColumns(form, input)
    default:
      return unreachable(form)
  }
}

/** Reads the rows of a relation for the output of the plan. */
export function printReader(
  plan: PhysicalPlan,
  relation: Relation,
  { segments, storage }: Omit<RowSources, 'paths'>,
): RelationReader {
  const { star, columns } = plan.output
  const paths = fieldsOf(columns.map(({ expression }) => expression))
  // Whole rows tell all that there is.
  return new RelationReader(relation, plan, { storage, segments: star ? [] : segments, paths })
}

function printJson(
  separatorText: string,
  input: PrintInput,
  out = new ByteWriter(4096),
): PrintedRows {
  const { output, reader, context, enoughBytes } = input
  const printer = compilePrinter(output, reader, context)
  const separator = Buffer.from(separatorText)
  out.truncate(0)
  let rowCount = 0
  for (const { batch } of reader.batches()) {
    const print = printer(batch)
    for (let row = 0; row < batch.rowCount && out.length < enoughBytes; row++) {
      checkCancelled()
      if (rowCount > 0) out.copy(separator)
      print(row, out)
      rowCount++
    }
    if (out.length >= enoughBytes) break
  }
  return { rowCount, bytes: out.view(), rawBytes: out.length }
}
