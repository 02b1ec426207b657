import { unreachable } from '../error.ts'
import type {
  Expression,
  Pivot,
  Projection,
  Query,
  Sample,
  SortKey,
  Source,
  Unpivot,
} from './ast.ts'
import { clauseProperties } from './clause.ts'
import { distinctKeys, isGroupingCall, mapKeys } from './grouping-function.ts'
import { type SettingName, settingNames } from './parse-sql-setting.ts'
import { printExpression, printName, printString, printTerm } from './print.ts'
import { printPercentage } from './print-query.ts'

/**
 * Prints a query in its canonical SQL, one clause a line. Parsing it gives `selectForm` of the query,
 * which means the same; for a query that was SQL before it is the query itself.
 */
export function printSqlQuery(query: Query): string {
  return clausesOf(selectForm(query)).join('\n')
}

/**
 * The query with its groups written as SQL has them: `dimensions` and `measures` become a select list
 * of both, and the dimensions stay as group keys without their names. Queries of clauses and of SQL
 * that mean the same have this form in common.
 */
export function selectForm(query: Query): Query {
  const { dimensions, measures, from } = query
  const source: Source | undefined =
    from?.kind === 'subquery' ? { ...from, query: selectForm(from.query) } : from
  const { measures: _, ...others } = query
  const rest = { ...others, ...(source && { from: source }) }
  if (query.select !== undefined || (dimensions ?? measures) === undefined) return rest
  const select = [...distinctKeys(dimensions ?? []), ...(measures ?? [])]
  const keys = dimensions?.map((dimension) => groupKey(dimension, select))
  return { ...rest, select, ...(keys && { dimensions: keys }) }
}

/** A whole number as a group key is a place in the select list, and a name there goes before a field. */
function groupKey(key: Projection, select: readonly Projection[]): Projection {
  const { expression, span } = key
  const asKey = (part: Expression, place: number): Expression => {
    const isPlace = part.kind === 'literal' && typeof part.value === 'number'
    const [name] = part.kind === 'path' ? part.parts : []
    const isTaken = select.some((other, i) => i !== place && other.alias === name)
    const isSafe = !isPlace && (name === undefined || !isTaken)
    return isSafe ? part : { kind: 'literal', value: place + 1, span: part.span }
  }
  const placeOf = (part: Expression): number => {
    const text = printExpression(part)
    return select.findIndex((other) => printExpression(other.expression) === text)
  }
  const bare = isGroupingCall(expression)
    ? mapKeys(expression, (part) => asKey(part, placeOf(part)))
    : asKey(expression, select.includes(key) ? select.indexOf(key) : placeOf(expression))
  return { expression: bare, alias: undefined, span }
}

/** Each clause that the query, in its select form, has. */
function clausesOf(query: Query): string[] {
  const { from, pivot, sample, filter, dimensions, finalFilter, sort } = query
  const { limit, offset, cursor } = query
  // A query that describes fields selects nothing, and SQL has no text without a select list.
  const items = query.select === undefined ? '*' : printList(query.select)
  const lines = [`SELECT ${query.distinct ? 'DISTINCT ' : ''}${items}`]
  if (from !== undefined) lines.push(`FROM ${printSource(from)}`)
  for (const unpivot of query.unpivot ?? []) lines.push(printUnpivot(unpivot))
  if (pivot !== undefined) lines.push(printPivot(pivot))
  if (sample !== undefined) lines.push(printSample(sample))
  if (filter !== undefined) lines.push(`WHERE ${printExpression(filter)}`)
  if (dimensions !== undefined) lines.push(`GROUP BY ${printList(dimensions)}`)
  if (finalFilter !== undefined) lines.push(`HAVING ${printExpression(finalFilter)}`)
  if (sort !== undefined) lines.push(`ORDER BY ${sort.map(printSortKey).join(', ')}`)
  if (limit !== undefined) lines.push(`LIMIT ${limit.value}`)
  if (offset !== undefined) lines.push(`OFFSET ${offset.value}`)
  if (cursor !== undefined) lines.push(`OFFSET ${printString(cursor.value)}`)
  const settings = settingNames.flatMap((name) => {
    const value = printSetting(query, name)
    return value === undefined ? [] : [`${name} = ${value}`]
  })
  if (settings.length > 0) lines.push(`SETTINGS ${settings.join(', ')}`)
  return lines
}

function printList(projections: readonly Projection[]): string {
  return projections.map(printItem).join(', ')
}

function printItem({ expression, alias }: Projection): string {
  const text = printExpression(expression)
  return alias === undefined ? text : `${text} AS ${printName(alias)}`
}

function printSortKey({ expression, direction }: SortKey): string {
  return `${printExpression(expression)}${direction === 'desc' ? ' DESC' : ''}`
}

function printSource(source: Source): string {
  if (source.kind === 'subquery') return `(${clausesOf(source.query).join(' ')})`
  const { table, ids, shape } = source
  const items = ids.map(({ value }) => printString(value))
  if (shape !== undefined) items.push(`shape => ${printString(shape)}`)
  return `${table}(${items.join(', ')})`
}

function printUnpivot({ expression, name, value }: Unpivot): string {
  const key = name === undefined ? '_' : printName(name)
  return `UNPIVOT (${printName(value)} FOR ${key} IN (${printExpression(expression)}))`
}

function printPivot({ measures, key }: Pivot): string {
  const values = key === undefined ? '' : ` FOR ${printTerm(key)} IN (ANY)`
  return `PIVOT (${printList(measures)}${values})`
}

function printSample({ method, seed }: Sample): string {
  const size =
    method.type === 'rate'
      ? printPercentage(method.value).replace('%', ' PERCENT')
      : `${method.value} ROWS`
  return `TABLESAMPLE (${size})${seed === undefined ? '' : ` REPEATABLE (${seed})`}`
}

function printSetting(query: Query, name: SettingName): string | undefined {
  switch (name) {
    case 'preview_length':
    case 'inference_budget': {
      const count = query[clauseProperties[name]]
      return count && String(count.value)
    }
    case 'comparison_key':
    case 'span_filter':
    case 'trace_filter': {
      const expression = query[clauseProperties[name]]
      return expression && `(${printExpression(expression)})`
    }
    case 'weighted_scores':
    case 'custom_columns':
    case 'final_dimensions':
    case 'final_measures': {
      const projections = query[clauseProperties[name]]
      return projections && `(${printList(projections)})`
    }
    case 'infer':
      return query.infer && `(${query.infer.map(printExpression).join(', ')})`
    default:
      return unreachable(name)
  }
}
