/**
 * Queries over typed columns in DuckDB's SQL: the part of the language that means the same in both.
 * A query is of the experiment `e`; its records are the rows of the table `records`.
 */
import type { Expression, Projection, Query } from '../../src/parser/ast.ts'
import { sqlText } from './duckdb.ts'

/** Columns of `records`, the path of each in a record, and its type. */
export const typedColumns = [
  { path: 'id', column: 'id', type: 'varchar' },
  { path: 'created', column: 'created', type: 'timestamp' },
  { path: 'metadata.s', column: 's', type: 'varchar' },
  { path: 'metadata.t', column: 't', type: 'varchar' },
  { path: 'metadata.f', column: 'f', type: 'boolean' },
  { path: 'scores.x', column: 'x', type: 'double' },
  { path: 'metrics.n', column: 'n', type: 'double' },
  { path: 'metrics.m', column: 'm', type: 'double' },
] as const

/** `position` rises with the age of rows. */
export const createTable = `create or replace table records (position integer, ${typedColumns
  .map(({ column, type }) => `${column} ${type}`)
  .join(', ')})`

type Of<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>

const aggregates: Record<string, string> = {
  count: 'count',
  count_distinct: 'count',
  sum: 'sum',
  avg: 'avg',
  min: 'min',
  max: 'max',
  median: 'median',
  stddev: 'stddev_samp',
  var_pop: 'var_pop',
  bool_and: 'bool_and',
  bool_or: 'bool_or',
}

const functions: Record<string, string> = {
  lower: 'lower',
  upper: 'upper',
  length: 'length',
  trim: 'trim',
  concat: 'concat',
  substring: 'substring',
  replace: 'replace',
  starts_with: 'starts_with',
  ends_with: 'ends_with',
  coalesce: 'coalesce',
  nullif: 'nullif',
  least: 'least',
  greatest: 'greatest',
  abs: 'abs',
  floor: 'floor',
  ceil: 'ceil',
  round: 'round',
  sqrt: 'sqrt',
  regexp_match: 'regexp_matches',
  date_trunc: 'date_trunc',
}

const truncations = new Set(['hour', 'day', 'week', 'month', 'quarter', 'year'])

const comparisons: Record<Of<'comparison'>['operator'], string> = {
  eq: '=',
  ne: '<>',
  lt: '<',
  le: '<=',
  gt: '>',
  ge: '>=',
  is_same: 'is not distinct from',
  is_different: 'is distinct from',
}

/** Throws for what the two languages do not share. */
export function toDuckDB(query: Query): string {
  const { select = [], dimensions = [], measures = [], filter, finalFilter, sort = [] } = query
  const shown = [...select, ...dimensions, ...measures]
  const named = new Map(shown.map((item) => [item.alias!, item.expression]))
  const resolve = (node: Expression): Expression => {
    const name = node.kind === 'path' && node.parts.length === 1 ? String(node.parts[0]) : undefined
    return (name !== undefined && named.get(name)) || node
  }
  const columns = shown.map((item) => `${shownAs(item)} as ${item.alias}`)
  const isGrouped = measures.length > 0
  const keys = dimensions.map(({ expression }) => toSql(expression))
  const orders = sort.map(
    ({ expression, direction }) => `${toSql(resolve(expression))} ${direction} nulls last`,
  )
  // What does not decide between rows in a query does in ours: age, or the keys of the groups.
  const rest = isGrouped ? keys.map((key) => `${key} nulls last`) : ['position desc']
  const order = [...orders, ...rest]
  return [
    `select ${columns.join(', ')} from records`,
    filter && `where ${toSql(filter)}`,
    keys.length > 0 && `group by ${keys.join(', ')}`,
    finalFilter && `having ${toSql(withColumns(finalFilter, resolve))}`,
    order.length > 0 && `order by ${order.join(', ')}`,
    query.limit && `limit ${query.limit.value}`,
    query.offset && `offset ${query.offset.value}`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** Times are shown as our JSON has them. */
function shownAs({ expression }: Projection): string {
  return isTime(expression) ? `iso(${toSql(expression)})` : toSql(expression)
}

/** HAVING of DuckDB knows no names of columns. */
function withColumns(node: Expression, resolve: (node: Expression) => Expression): Expression {
  if (node.kind !== 'comparison') return resolve(node)
  return { ...node, left: resolve(node.left), right: resolve(node.right) }
}

function toSql(node: Expression): string {
  switch (node.kind) {
    case 'literal':
      if (typeof node.value === 'string') return sqlText(node.value)
      // A number with a point would be a decimal.
      return typeof node.value === 'number' ? `(${node.value})::double` : `${node.value}`
    case 'path':
      return columnOf(node)
    case 'comparison':
      return `(${aligned(node.left, node.right)} ${comparisons[node.operator]} ${aligned(node.right, node.left)})`
    case 'arithmetic':
      return arithmetic(node)
    case 'negate':
      return `(-${toSql(node.operand)})`
    case 'not':
      return `(not ${toSql(node.operand)})`
    case 'and':
    case 'or':
      return `(${node.operands.map(toSql).join(` ${node.kind} `)})`
    case 'is_null':
      return `(${toSql(node.operand)} is ${node.negated ? 'not ' : ''}null)`
    case 'like': {
      const operator = `${node.negated ? 'not ' : ''}${node.caseInsensitive ? 'ilike' : 'like'}`
      return `(${toSql(node.operand)} ${operator} ${toSql(node.pattern)} escape '\\')`
    }
    case 'in': {
      const items = node.list.kind === 'array' ? node.list.items : []
      const list = items.map((item) => aligned(item, node.operand)).join(', ')
      return `(${toSql(node.operand)} ${node.negated ? 'not ' : ''}in (${list}))`
    }
    case 'between': {
      const [low, high] = [aligned(node.low, node.operand), aligned(node.high, node.operand)]
      const operator = node.negated ? 'not between' : 'between'
      return `(${toSql(node.operand)} ${operator} ${low} and ${high})`
    }
    case 'conditional': {
      const branches = node.branches.map(
        ({ condition, result }) => `when ${toSql(condition)} then ${toSql(result)}`,
      )
      return `case ${branches.join(' ')} else ${toSql(node.otherwise)} end`
    }
    case 'call':
      return called(node)
    default:
      throw new Error(`DuckDB has no ${node.kind}`)
  }
}

function columnOf({ parts }: Of<'path'>): string {
  const column = typedColumns.find(({ path }) => path === parts.join('.'))
  if (!column) throw new Error(`the table has no column for ${parts.join('.')}`)
  return column.column
}

/** A time that is written as text is one in SQL only if it says so. */
function aligned(node: Expression, other: Expression): string {
  const isText = node.kind === 'literal' && typeof node.value === 'string'
  return isText && isTime(other) ? `timestamp ${toSql(node)}` : toSql(node)
}

function arithmetic({ operator, left, right }: Of<'arithmetic'>): string {
  const [a, b] = [toSql(left), toSql(right)]
  switch (operator) {
    case 'add':
      return `(${a} + ${b})`
    case 'sub':
      return `(${a} - ${b})`
    case 'mul':
      return `(${a} * ${b})`
    case 'div':
      return `(${a} / nullif(${b}, 0))`
    case 'mod':
      return `(${a} % nullif(${b}, 0))`
  }
}

function called({ name, arguments: list, distinct, filter }: Of<'call'>): string {
  const aggregate = aggregates[name]
  const args = list.map(toSql).join(', ')
  if (aggregate) {
    const isDistinct = distinct || name === 'count_distinct'
    const where = filter ? ` filter (where ${toSql(filter)})` : ''
    return `${aggregate}(${isDistinct ? 'distinct ' : ''}${args})${where}`
  }
  if (truncations.has(name)) return `date_trunc('${name}', ${args})`
  const known = functions[name]
  if (known === undefined) throw new Error(`DuckDB has no ${name}()`)
  // Ours are functions of characters and doubles.
  if (name === 'substring') return `substring(${toSql(list[0]!)}, ${list.slice(1).map(integer)})`
  return name === 'length' ? `length(${args})::double` : `${known}(${args})`
}

function integer(node: Expression): string {
  return node.kind === 'literal' ? `${node.value}` : `${toSql(node)}::integer`
}

function isTime(node: Expression): boolean {
  if (node.kind === 'path') return node.parts.join('.') === 'created'
  if (node.kind !== 'call') return false
  if (node.name === 'min' || node.name === 'max') return isTime(node.arguments[0]!)
  return truncations.has(node.name) || node.name === 'date_trunc'
}
