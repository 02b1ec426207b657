/** Prints rows as columns, or as the fields of CSV. */
import { assert } from '../../error.ts'
import { arrowBatch } from '../../format/arrow-stream.ts'
import { type ColumnBuffer, columnBuffer, TextBuffer } from '../../format/column-buffer.ts'
import { writeCsvField } from '../../format/csv.ts'
import { parquetRowGroup } from '../../format/parquet-file.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import type { Output } from '../../planner/physical-plan.ts'
import type { Path } from '../../type/value.ts'
import { compile } from '../expression/compile.ts'
import type { TaskContext } from '../expression/semi-join-set.ts'
import { locateInRow } from '../field/locate-json.ts'
import type { RelationBatch, RelationReader } from '../relation/relation-batch.ts'
import { checkCancelled } from '../thread/cancelled.ts'
import { isCopied, printedColumn } from './print-row.ts'
import type { ColumnsForm, FormColumn, PrintedRows } from './row-form.ts'

/** What the printing of rows needs to know. */
export interface PrintInput {
  readonly output: Output
  readonly reader: RelationReader
  readonly context: TaskContext
  /** No further row is begun when there are so many bytes. */
  readonly enoughBytes: number
}

/** Rows of a batch at first, and at most. They are appended before anything of them is measured. */
const firstRows = 16
const mostRows = { stored: 256, made: 8192 }

export function printColumns(
  { kind, columns }: ColumnsForm,
  { output, reader, context, enoughBytes }: PrintInput,
): PrintedRows {
  const { rowCount, rows } = reader.relation
  const buffers = columns.map((column) => columnBuffer(typeOf(column), column.isCoded, rowCount))
  const appenders = columns.map((column, c) =>
    appender(column, buffers[c]!, output, reader, context),
  )
  const most = rows ? mostRows.stored : mostRows.made
  let printed = 0
  let rawBytes = 0
  let count = rows ? firstRows : most
  while (printed < rowCount && rawBytes < enoughBytes) {
    checkCancelled()
    const to = Math.min(rowCount, printed + count)
    const batch = reader.batch(printed, to)
    for (const append of appenders) {
      checkCancelled()
      append(batch)
    }
    printed = to
    rawBytes = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0)
    const rest = (enoughBytes - rawBytes) / Math.max(1, rawBytes / printed)
    count = Math.max(1, Math.min(most, Math.ceil(rest)))
  }
  if (printed === 0) return { rowCount: 0, rawBytes: 0, bytes: new Uint8Array() }
  const data = buffers.map((buffer) => buffer.finish())
  const typed = columns.map((column) => ({ ...column, type: typeOf(column) }))
  if (kind === 'arrow') {
    return { rowCount: printed, rawBytes, bytes: arrowBatch(typed, data, printed) }
  }
  const { bytes, metadata } = parquetRowGroup(typed, data, printed, checkCancelled)
  return { rowCount: printed, rawBytes, bytes, group: metadata }
}

/** Each row is the fields of its columns, and an end of a line. */
export function printCsv(
  { columns, escapesFormulas }: ColumnsForm,
  input: PrintInput,
  out = new ByteWriter(4096),
): PrintedRows {
  const { output, reader, context, enoughBytes } = input
  const printers = columns.map((column) => printedColumn(column, output, reader, context))
  const field = new ByteWriter(1024)
  const options = columns.map(({ type }) => ({ isMixed: type !== 'text', escapesFormulas }))
  out.truncate(0)
  let rowCount = 0
  for (const { batch } of reader.batches()) {
    const writers = printers.map((column) => column.open(batch))
    for (let row = 0; row < batch.rowCount && out.length < enoughBytes; row++) {
      checkCancelled()
      for (let c = 0; c < writers.length; c++) {
        if (c > 0) out.byte(0x2c)
        field.truncate(0)
        writers[c]!(row, field)
        writeCsvField(field.bytes, 0, field.length, out, options[c])
      }
      out.byte(0x0d)
      out.byte(0x0a)
      rowCount++
    }
    if (out.length >= enoughBytes) break
  }
  return { rowCount, bytes: out.view(), rawBytes: out.length }
}

function typeOf({ type }: FormColumn) {
  assert(type, 'a column is printed before its type is known')
  return type
}

/** A function that appends what the column is in the rows of a batch. */
function appender(
  column: FormColumn,
  buffer: ColumnBuffer,
  output: Output,
  reader: RelationReader,
  context: TaskContext,
): (batch: RelationBatch) => void {
  if (column.type === 'json' && buffer instanceof TextBuffer) {
    const printed = printedColumn(column, output, reader, context)
    return (batch) => {
      const write = printed.open(batch)
      for (let row = 0; row < batch.rowCount; row++) {
        buffer.pushWritten((out) => write(row, out))
      }
    }
  }
  if (column.type === 'text' && buffer instanceof TextBuffer && isCopied(column, reader)) {
    return (batch) => appendStoredTexts(batch, column.expression.path, buffer)
  }
  const evaluate = compile(column.expression, context)
  return (batch) => buffer.append(evaluate(batch, undefined), batch.rowCount)
}

const quote = 0x22
const backslash = 0x5c

/** Texts of stored rows, most of which are copied without their quotes. */
function appendStoredTexts(batch: RelationBatch, path: Path, buffer: TextBuffer): void {
  const known = batch.inColumns(path)
  for (let row = 0; row < batch.rowCount; row++) {
    const text = known?.textAt(row)
    if (text) {
      buffer.pushBytes(text, 0, text.length)
      continue
    }
    if (known?.valueAt(row) === null) {
      buffer.push(null)
      continue
    }
    const view = batch.storedRow(row)?.view
    const span = view && locateInRow(view, path)
    if (!span) buffer.push(null)
    else if (view.bytes[span.start] !== quote) {
      buffer.pushBytes(view.bytes, span.start, span.end)
    } else if (view.bytes.subarray(span.start, span.end).includes(backslash)) {
      buffer.push(JSON.parse(decodeUtf8(view.bytes, span.start, span.end)) as string)
    } else buffer.pushBytes(view.bytes, span.start + 1, span.end - 1)
  }
}
