/** The JSON schema that an answer carries: what is known of its columns before any data is seen. */
import { aggregateFunction } from '../function/aggregate.ts'
import { setMember } from '../json/set-member.ts'
import { type RecordColumn, recordColumn, recordColumns } from '../type/record.ts'
import {
  type BoundExpression,
  type BoundOutput,
  type BoundQuery,
  type OutputColumn,
  objectsOf,
  type StaticType,
} from './bound.ts'
import { inferredColumns } from './inferred-fields.ts'

type JsonSchema = Readonly<Record<string, unknown>>

export interface ResultSchema {
  readonly type: 'array'
  readonly items: { readonly type: 'object'; readonly properties: Record<string, JsonSchema> }
}

/**
 * Columns in the order of the projection; those of `*` first, in alphabetical order.
 *
 * @param madeColumns columns that only the data could name, such as those of a pivot
 */
export function resultSchema(query: BoundQuery, madeColumns: readonly string[] = []): ResultSchema {
  const { output } = query
  const properties: Record<string, JsonSchema> = {}
  if (output.kind === 'rows' && output.star) {
    const types = new Set(objectsOf(query).map((object) => object.type))
    for (const column of recordColumns) {
      if (column.in.some((type) => types.has(type))) properties[column.name] = columnSchema(column)
    }
  }
  for (const { name, expression } of columnsOf(output)) {
    setMember(
      properties,
      name,
      isGroupCount(output, expression) ? { type: 'integer' } : schemaOf(expression),
    )
  }
  for (const name of madeColumns) {
    if (!Object.hasOwn(properties, name)) setMember(properties, name, {})
  }
  return { type: 'array', items: { type: 'object', properties } }
}

function columnsOf(output: BoundOutput): readonly OutputColumn[] {
  return output.kind === 'infer' ? inferredColumns : output.columns
}

function isGroupCount(output: BoundOutput, expression: BoundExpression): boolean {
  if (output.kind !== 'groups' || expression.kind !== 'group_column') return false
  const aggregate = output.aggregates[expression.index - output.keys.length]
  return aggregate !== undefined && aggregateFunction(aggregate.name)?.result === 'integer'
}

function schemaOf(expression: BoundExpression): JsonSchema {
  if (expression.kind === 'field' && expression.path.length === 1) {
    const column = recordColumn(String(expression.path[0]))
    if (column) return columnSchema(column)
  }
  return typeSchema(expression.type)
}

/** Stored columns that every row has, because they are filled in. */
const filledIn = new Set(['created', 'id', 'is_root', 'root_span_id', 'span_id'])

function columnSchema({ name, type, description, origin }: RecordColumn): JsonSchema {
  if (type === 'json') return { description }
  const isAlwaysThere = origin !== 'stored' || filledIn.has(name)
  return { ...typeSchema(type, isAlwaysThere), description }
}

function typeSchema(type: StaticType | RecordColumn['type'], isAlwaysThere = false): JsonSchema {
  switch (type) {
    case 'json':
      return {}
    case 'timestamp':
      return { type: isAlwaysThere ? 'string' : ['string', 'null'], format: 'date-time' }
    case 'interval':
      return { type: ['string', 'null'] }
    default:
      return { type: isAlwaysThere ? type : [type, 'null'] }
  }
}
