import { unreachable } from '../error.ts'
import type {
  CountClause,
  Pivot,
  Projection,
  Query,
  Sample,
  SortKey,
  Source,
  Unpivot,
} from './ast.ts'
import { isName } from './character.ts'
import { type ClauseName, clauseNames, clauseProperties } from './clause.ts'
import { reservedWords } from './keyword.ts'
import {
  printDistinct,
  printExpression,
  printName,
  printProjection,
  printString,
  withAlias,
} from './print.ts'

/** Prints a query in its canonical text, one clause a line; parsing it gives the query again. */
export function printQuery(query: Query): string {
  return printClauses(query).join('\n')
}

/** Each clause that the query has, as `name: value`, in canonical order. */
function printClauses(query: Query): string[] {
  return clauseNames.flatMap((name) => {
    const value = printClause(query, name)
    return value === undefined ? [] : [`${name}: ${value}`]
  })
}

function printClause(query: Query, name: ClauseName): string | undefined {
  switch (name) {
    case 'select':
      return query.select && printSelect(query.select, query.distinct === true)
    case 'dimensions':
    case 'measures':
    case 'final_dimensions':
    case 'final_measures':
    case 'weighted_scores':
    case 'custom_columns':
      return printProjections(query[clauseProperties[name]])
    case 'pivot':
      return query.pivot && printPivot(query.pivot)
    case 'infer':
      return query.infer?.map(printExpression).join(', ')
    case 'from':
      return query.from && printSource(query.from)
    case 'unpivot':
      return query.unpivot?.map(printUnpivot).join(', ')
    case 'filter':
    case 'span_filter':
    case 'trace_filter':
    case 'final_filter':
    case 'comparison_key': {
      const expression = query[clauseProperties[name]]
      return expression && printExpression(expression)
    }
    case 'sample':
      return query.sample && printSample(query.sample)
    case 'sort':
      return query.sort?.map(printSortKey).join(', ')
    case 'limit':
    case 'offset':
    case 'preview_length':
    case 'inference_budget':
      return printCount(query[clauseProperties[name]])
    case 'cursor':
      return query.cursor && printString(query.cursor.value)
    default:
      return unreachable(name)
  }
}

/** Prints a select list, with or without `distinct` before it. */
export function printSelect(select: readonly Projection[], distinct: boolean): string {
  if (!distinct) return select.map(printProjection).join(', ')
  const [{ expression, alias }, ...rest] = select as readonly [Projection, ...Projection[]]
  const first = withAlias(printDistinct(printExpression(expression)), alias)
  return [first, ...rest.map(printProjection)].join(', ')
}

export function printProjections(
  projections: readonly Projection[] | undefined,
): string | undefined {
  return projections?.map(printProjection).join(', ')
}

export function printSortKey({ expression, direction }: SortKey): string {
  const text = printExpression(expression)
  return direction === 'desc' ? `${text} desc` : text
}

export function printSource(source: Source): string {
  if (source.kind === 'subquery') return `(${printClauses(source.query).join(' | ')})`
  const { table, ids, shape } = source
  const list = ids.map(({ value }) => printString(value))
  // In quotes a shape may have been any text.
  const isWord = shape !== undefined && isName(shape) && !reservedWords.has(shape)
  if (shape !== undefined && !isWord) list.push(`shape => ${printString(shape)}`)
  return `${table}(${list.join(', ')})${isWord ? ` ${shape}` : ''}`
}

export function printPivot({ measures, key }: Pivot): string {
  const text = measures.map(printProjection).join(', ')
  return key === undefined ? text : `${text} for ${printExpression(key)}`
}

export function printUnpivot({ expression, name, value }: Unpivot): string {
  const text = printExpression(expression)
  return name === undefined
    ? `${text} as ${printName(value)}`
    : `${text} as (${printName(name)}, ${printName(value)})`
}

export function printSample({ method, seed }: Sample): string {
  const size = method.type === 'rate' ? printPercentage(method.value) : String(method.value)
  return seed === undefined ? size : `${size} seed ${seed}`
}

/** Prints a share as a percentage whose digits are those of the share, so that it reads back the same. */
export function printPercentage(share: number): string {
  const [digits = '', exponent = ''] = share.toExponential().split('e')
  const figures = digits.replace('.', '')
  // The point stands after the first figure, then as many places on as the exponent and the percent say.
  const point = 3 + Number(exponent)
  if (point <= 0) return `0.${'0'.repeat(-point)}${figures}%`
  const whole = figures.slice(0, point).padEnd(point, '0')
  const rest = figures.slice(point)
  return rest === '' ? `${Number(whole)}%` : `${Number(whole)}.${rest}%`
}

function printCount(count: CountClause | undefined): string | undefined {
  return count && String(count.value)
}
