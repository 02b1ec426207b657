/** How a row is printed: which columns, in which order, and where their texts come from. */
import { LRUCache } from 'lru-cache'
import type { OutputColumn, Preview } from '../../binder/bound.ts'
import type { ByteWriter } from '../../json/byte-writer.ts'
import type { Output } from '../../planner/physical-plan.ts'
import { rowLayout, type ShownColumn, writeRow } from '../../storage/row/row.ts'
import type { Path } from '../../type/value.ts'
import { compile } from '../expression/compile.ts'
import type { TaskContext } from '../expression/semi-join-set.ts'
import { locateInRow } from '../field/locate-json.ts'
import type { RelationBatch, RelationReader } from '../relation/relation-batch.ts'
import { previewedFields, writePreview } from './preview.ts'
import { writeFromColumns, writeFromRow } from './write-field.ts'
import { type ValueWriter, valueWriter } from './write-vector.ts'

export type RowPrinter = (row: number, out: ByteWriter) => void

/** A column, ready to be printed batch by batch. */
export interface PrintedColumn {
  readonly name: string
  open(batch: RelationBatch): ValueWriter
}

const closeBrace = 0x7d
const openBrace = 0x7b
const comma = 0x2c
const nullText = Buffer.from('null')

/** A function that gives the printer of a batch of the relation. */
export function compilePrinter(
  output: Output,
  reader: RelationReader,
  context: TaskContext,
): (batch: RelationBatch) => RowPrinter {
  const columns = columnsOf(output, reader, context)
  return output.star ? starPrinter(columns, output.preview) : columnsPrinter(columns)
}

/** Columns as the query names them; those of whole records, and whatever is among these, by name. */
function columnsOf(output: Output, reader: RelationReader, context: TaskContext): PrintedColumn[] {
  const columns = output.columns.map((column) => printedColumn(column, output, reader, context))
  if (!output.star) return columns
  const taken = new Set(columns.map(({ name }) => name))
  for (const name of reader.shownFields()) {
    if (taken.has(name)) continue
    const expression = { kind: 'field', path: [name], type: 'json' } as const
    columns.push(evaluatedColumn({ name, expression }, context))
  }
  return columns.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** A column of the output, which prints its values as JSON. */
export function printedColumn(
  column: OutputColumn,
  { preview }: Output,
  reader: RelationReader,
  context: TaskContext,
): PrintedColumn {
  return isCopied(column, reader)
    ? copiedColumn(column.name, column.expression.path, preview)
    : evaluatedColumn(column, context)
}

type CopiedColumn = OutputColumn & { readonly expression: { kind: 'field'; path: Path } }

/** Whether the column is part of the text of stored rows. */
export function isCopied(column: OutputColumn, reader: RelationReader): column is CopiedColumn {
  const { expression } = column
  return expression.kind === 'field' && reader.isStored(String(expression.path[0]))
}

function copiedColumn(name: string, path: Path, preview: Preview | undefined): PrintedColumn {
  const isPreviewed = path.length === 1 && previewedFields.includes(String(path[0]))
  const length = isPreviewed ? preview?.length : undefined
  return {
    name,
    open: (batch) => {
      const known = length === undefined ? batch.inColumns(path) : undefined
      return (row, out) => {
        if (known && writeFromColumns(known, row, out)) return
        const view = batch.storedRow(row)?.view
        const span = view && locateInRow(view, path)
        if (!span) out.copy(nullText)
        else if (length === undefined) writeFromRow(view.bytes, span.start, span.end, out)
        else writePreview(view.bytes, span.start, span.end, length, out)
      }
    },
  }
}

function evaluatedColumn({ name, expression }: OutputColumn, context: TaskContext): PrintedColumn {
  const evaluate = compile(expression, context)
  return { name, open: (batch) => valueWriter(evaluate(batch, undefined)) }
}

function columnsPrinter(columns: readonly PrintedColumn[]): (batch: RelationBatch) => RowPrinter {
  const print = membersPrinter(columns)
  return (batch) => print(columns.map((column) => column.open(batch)))
}

/** Prints the whole stored row with the columns in it. */
function starPrinter(
  columns: readonly PrintedColumn[],
  preview: Preview | undefined,
): (batch: RelationBatch) => RowPrinter {
  let writers: readonly ValueWriter[] = []
  let current = 0
  const added = columns.map(({ name }, c): ShownColumn => {
    return { name, write: (_, out) => writers[c]!(current, out) }
  })
  const replaced = preview ? previewedFields.map((name) => previewedColumn(name, preview)) : []
  const layout = rowLayout(added, replaced)
  const print = membersPrinter(columns)
  const isPlain = columns.length === 0 && !preview
  return (batch) => {
    writers = columns.map((column) => column.open(batch))
    const printColumns = print(writers)
    return (row, out) => {
      if (isPlain && batch.printStored(row, out)) return
      current = row
      const stored = batch.storedRow(row)
      if (stored) writeRow(stored.view, stored.object, out, layout)
      else printColumns(row, out)
    }
  }
}

function previewedColumn(name: string, { length }: Preview): ShownColumn {
  return {
    name,
    write: (view, out) => {
      const span = view.field(name)
      if (span) writePreview(view.bytes, span.start, span.end, length, out)
      else out.copy(nullText)
    },
  }
}

/** By name, as many queries print the same. */
const labels = new LRUCache<string, Uint8Array>({ max: 1000 })

function labelOf(name: string): Uint8Array {
  let label = labels.get(name)
  if (!label) {
    label = Buffer.from(`${JSON.stringify(name)}:`)
    labels.set(name, label)
  }
  return label
}

function membersPrinter(
  columns: readonly PrintedColumn[],
): (writers: readonly ValueWriter[]) => RowPrinter {
  const labels = columns.map(({ name }) => labelOf(name))
  return (writers) => (row, out) => {
    out.byte(openBrace)
    for (let c = 0; c < writers.length; c++) {
      if (c > 0) out.byte(comma)
      out.copy(labels[c]!)
      writers[c]!(row, out)
    }
    out.byte(closeBrace)
  }
}
