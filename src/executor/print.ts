/** Prints result rows: whole rows and single fields by copying their text, the rest by evaluating. */
import type { BoundObject, OutputColumn } from '../binder/bound.ts'
import { type EvaluationContext, evaluate } from '../binder/evaluate.ts'
import { assert } from '../error.ts'
import { ByteWriter } from '../json/byte-writer.ts'
import { type RowView, writeRow } from '../storage/row.ts'
import { isStoredField } from '../type/record.ts'
import { writeJson } from '../type/write-json.ts'
import { versionKeyAt } from '../vector/row-keys.ts'
import { locateInRow } from './locate-json.ts'
import type { TaskStorage } from './row-run.ts'
import { fieldOfRow } from './row-scan.ts'
import { checkCancelled } from './scan.ts'
import type { PrintResult, PrintTask } from './task.ts'

/** No further row is begun when this much is printed. */
const maximumBytes = 4 << 20

const closeBrace = 0x7d
const openBrace = 0x7b
const comma = 0x2c

/** Prints the rows of the task, or as many of the first as fit into some megabytes. */
export function runPrint(task: PrintTask, storage: TaskStorage): PrintResult {
  const { plan, rows, context } = task
  assert(plan.stage.kind === 'rows', 'only rows are printed')
  const { star } = plan.stage
  const columns = plan.stage.columns
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((column) => columnPrinter(column, context))
  const objects = new Map(plan.objects.map((object) => [object.number, object]))
  const separator = Buffer.from(task.separator)
  const rowCount = rows.object.length
  const out = new ByteWriter(4096)
  let printed = 0
  for (; printed < rowCount && out.length < maximumBytes; printed++) {
    checkCancelled(task.cancelled)
    const number = rows.object[printed]!
    const view = storage.records.rowAt(number, versionKeyAt(rows, printed))
    assert(view, 'a result names a row that the row store does not have')
    const object = objects.get(number)!
    if (printed > 0) out.copy(separator)
    if (star) {
      writeRow(view, object, out)
      if (columns.length === 0) continue
      out.truncate(out.length - 1)
    } else {
      out.byte(openBrace)
    }
    for (const [c, print] of columns.entries()) {
      if (c > 0 || star) out.byte(comma)
      print(view, object, out)
    }
    out.byte(closeBrace)
  }
  return { kind: 'print', rowCount: printed, bytes: out.view() }
}

type ColumnPrinter = (view: RowView, object: BoundObject, out: ByteWriter) => void

/** Prints `"name":value`. */
function columnPrinter(
  { name, expression }: OutputColumn,
  context: EvaluationContext,
): ColumnPrinter {
  const label = Buffer.from(`${JSON.stringify(name)}:`)
  const nullText = Buffer.from('null')
  if (expression.kind === 'field' && isStoredField(String(expression.path[0]))) {
    const { path } = expression
    return (view, _, out) => {
      out.copy(label)
      const span = locateInRow(view, path)
      if (span) out.copy(view.bytes, span.start, span.end)
      else out.copy(nullText)
    }
  }
  return (view, object, out) => {
    const value = evaluate(
      expression,
      (leaf) => (leaf.kind === 'field' ? fieldOfRow(view, leaf.path, object) : null),
      context,
    )
    out.copy(label)
    out.text(writeJson(value))
  }
}
