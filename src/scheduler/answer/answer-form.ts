/** The form of an answer before its rows are read: its columns, and what is known of their types. */
import type { OutputColumn } from '../../binder/bound.ts'
import type { ResultSchema } from '../../binder/schema.ts'
import type { ColumnsForm, FormColumn, RowForm } from '../../executor/print/row-form.ts'
import type { ColumnType } from '../../format/column-type.ts'
import type { OutputFormat } from '../../format/output-format.ts'
import { recordColumn } from '../../type/record.ts'

export interface FormOptions {
  readonly format: OutputFormat
  /** Of JSON. */
  readonly separator: string
  /** Of CSV. */
  readonly escapesFormulas: boolean
  readonly schema: ResultSchema
  readonly columns: readonly OutputColumn[]
  /** Of a query for whole records: names of fields that they may have besides those of the schema. */
  readonly moreFields: readonly string[]
}

/** Columns in the order of the schema; those of whole records in alphabetical order. */
export function formOf(options: FormOptions): RowForm {
  const { format, separator, escapesFormulas, schema, columns, moreFields } = options
  if (format === 'json' || format === 'jsonl') return { kind: 'json', separator }
  const { properties } = schema.items
  const selected = new Map(columns.map((column) => [column.name, column]))
  const given = Object.keys(properties)
  const whole = given.filter((name) => !selected.has(name))
  const more = moreFields.filter((name) => !Object.hasOwn(properties, name))
  const names =
    more.length === 0
      ? given
      : [...[...whole, ...more].sort(), ...given.filter((name) => selected.has(name))]
  return {
    kind: format,
    escapesFormulas,
    columns: names.map((name): FormColumn => {
      const column = selected.get(name)
      if (!column) return wholeField(name)
      const isInteger = properties[name]?.type === 'integer'
      return { ...column, type: isInteger ? 'integer' : knownType(column), isCoded: false }
    }),
  }
}

/** The plan that has only to find out the types of columns reads no row but for that. */
export function openColumns({ kind, columns }: ColumnsForm): readonly FormColumn[] {
  return kind === 'csv' ? [] : columns.filter(({ type }) => type === undefined)
}

/** A field as it is stored. What may be anything is JSON, so that no row need be read to know. */
function wholeField(name: string): FormColumn {
  const expression = { kind: 'field', path: [name], type: 'json' } as const
  return { name, expression, type: fieldType(name) ?? 'json', isCoded: false }
}

/** Fields of which every value that is written is checked. */
function fieldType(name: string): ColumnType | undefined {
  if (name === 'tags' || name === 'span_parents') return 'texts'
  switch (recordColumn(name)?.type) {
    case 'string':
      return 'text'
    case 'timestamp':
    case 'boolean':
      return recordColumn(name)!.type as ColumnType
    case undefined:
      return undefined
    default:
      return 'json'
  }
}

/** Undefined where only the data knows: a number may be one that a double cannot hold. */
function knownType({ expression }: OutputColumn): ColumnType | undefined {
  if (expression.kind === 'field' && expression.path.length === 1) {
    const type = fieldType(String(expression.path[0]))
    if (type) return type
  }
  switch (expression.type) {
    case 'string':
    case 'interval':
      return 'text'
    case 'boolean':
    case 'timestamp':
      // Of fields and groups, what a type says is what is expected, not what was checked.
      return expression.kind === 'field' || expression.kind === 'group_column'
        ? undefined
        : expression.type
    default:
      return undefined
  }
}
