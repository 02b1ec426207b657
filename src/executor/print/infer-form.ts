/**
 * The columns of a form as only rows can tell them: those that the data has named, and the types of
 * what may be anything.
 */
import { typeOfBits, valueBit } from '../../format/column-type.ts'
import { Timestamp, type Value } from '../../type/value.ts'
import { type Vector, valueReader } from '../../vector/vector.ts'
import { compile } from '../expression/compile.ts'
import { type TaskContext, withSemiJoinSets } from '../expression/semi-join-set.ts'
import type { RelationReader } from '../relation/relation-batch.ts'
import type { TaskStorage } from '../scan/row-run.ts'
import type { InferFormResult, InferFormTask } from '../task/task.ts'
import { printReader } from './print.ts'
import type { ColumnsForm, FormColumn } from './row-form.ts'

export function runInferForm(task: InferFormTask, storage: TaskStorage): InferFormResult {
  return { kind: 'infer form', form: inferForm(task, storage) }
}

export function inferForm(
  {
    plan,
    context,
    semiJoinSets,
    relation,
    segments,
    form,
  }: Omit<InferFormTask, 'kind' | 'cancelled'>,
  storage: TaskStorage,
): ColumnsForm {
  const reader = printReader(plan, relation, { segments, storage })
  const columns = plan.output.star ? withMadeColumns(form.columns, reader) : form.columns
  if (form.kind === 'csv') return { ...form, columns }
  return { ...form, columns: withTypes(columns, reader, withSemiJoinSets(context, semiJoinSets)) }
}

function withMadeColumns(columns: readonly FormColumn[], reader: RelationReader): FormColumn[] {
  const taken = new Set(columns.map(({ name }) => name))
  const made = reader.shownFields().filter((name) => !taken.has(name))
  return [
    ...columns,
    ...made.map((name): FormColumn => {
      const expression = { kind: 'field', path: [name], type: 'json' } as const
      return { name, expression, type: undefined, isCoded: false }
    }),
  ]
}

function withTypes(
  columns: readonly FormColumn[],
  reader: RelationReader,
  context: TaskContext,
): FormColumn[] {
  const seen = columns.map((column) => new SeenColumn(column, context))
  const asked = seen.filter(({ isOpen }) => isOpen)
  if (asked.length > 0) {
    for (const { batch } of reader.batches()) {
      for (const column of asked) column.see(column.evaluate(batch, undefined), batch.rowCount)
    }
  }
  return seen.map((column) => column.finish())
}

/** What the values of a column have been so far. */
class SeenColumn {
  readonly evaluate
  readonly isOpen: boolean
  readonly #column: FormColumn
  #bits = 0
  #isCoded = true

  constructor(column: FormColumn, context: TaskContext) {
    this.#column = column
    this.evaluate = compile(column.expression, context)
    // Whether groups have a text as codes is as good as known: all their batches are of one vector.
    this.isOpen = column.type === undefined || column.expression.kind === 'group_column'
  }

  see(vector: Vector, rowCount: number): void {
    this.#isCoded &&= vector.kind === 'dictionary' && vector.entries.texts !== undefined
    this.#bits |= bitsOf(vector, rowCount)
  }

  finish(): FormColumn {
    const type = this.#column.type ?? typeOfBits(this.#bits)
    const isCoded = this.isOpen && this.#isCoded && type === 'text'
    return { ...this.#column, type, isCoded: isCoded && this.#bits !== 0 }
  }
}

/** Bits of what the rows of the vector are; nulls have none. */
function bitsOf(vector: Vector, rowCount: number): number {
  switch (vector.kind) {
    case 'boolean':
      return valueBit.boolean
    case 'timestamp':
      return valueBit.timestamp
    case 'text':
      return valueBit.text
    case 'constant':
      return bitOf(vector.value)
    case 'dictionary':
      if (vector.entries.texts) return valueBit.text
  }
  const read = valueReader(vector)
  let bits = 0
  for (let row = 0; row < rowCount; row++) bits |= bitOf(read(row))
  return bits
}

const leastInteger = -(2n ** 63n)
const greatestInteger = 2n ** 63n - 1n

function bitOf(value: Value): number {
  switch (typeof value) {
    case 'boolean':
      return valueBit.boolean
    case 'string':
      return valueBit.text
    case 'bigint':
      return value >= leastInteger && value <= greatestInteger ? valueBit.big : valueBit.huge
    case 'number':
      // What is not finite is shown as null.
      if (!Number.isFinite(value)) return 0
      return Number.isInteger(value) && Math.abs(value) < 2 ** 63
        ? valueBit.integer
        : valueBit.fraction
  }
  if (value === null) return 0
  return value instanceof Timestamp ? valueBit.timestamp : valueBit.other
}
