import { unreachable } from '../error.ts'
import type { Expression, Pivot, Projection, Query, SortKey } from './ast.ts'
import { childrenOf } from './children.ts'
import { type ClauseName, clauseNames, clauseProperties } from './clause.ts'
import { printLiteral, printName, printPath, printSteps, printString } from './print.ts'
import { printSample, printSource } from './print-query.ts'

/** Prints a syntax tree one node a line, children indented below their parent. */
export function printAst(node: Query | Expression): string {
  const lines: string[] = []
  if (node.kind === 'query') writeQuery(node, 0, lines)
  else write(node, 0, lines)
  return lines.join('\n')
}

function writeQuery(query: Query, depth: number, lines: string[]): void {
  const indent = '  '.repeat(depth)
  lines.push(`${indent}query`)
  for (const name of clauseNames) writeClause(query, name, depth, lines)
}

function writeClause(query: Query, name: ClauseName, depth: number, lines: string[]): void {
  const indent = '  '.repeat(depth)
  const title = `${indent}  ${name}`
  const writeUnderTitle = (expressions: readonly Expression[] | undefined) => {
    if (expressions) lines.push(title)
    for (const expression of expressions ?? []) write(expression, depth + 2, lines)
  }
  switch (name) {
    case 'select':
    case 'dimensions':
    case 'measures':
    case 'final_dimensions':
    case 'final_measures':
    case 'weighted_scores':
    case 'custom_columns': {
      const projections = query[clauseProperties[name]]
      if (projections === undefined) break
      lines.push(name === 'select' && query.distinct ? `${title} distinct` : title)
      for (const projection of projections) writeProjection(projection, depth + 2, lines)
      break
    }
    case 'pivot':
      if (query.pivot !== undefined) writePivot(query.pivot, depth, lines)
      break
    case 'unpivot':
      for (const { expression, name: key, value } of query.unpivot ?? []) {
        const names = [...(key === undefined ? [] : [key]), value].map(printName)
        lines.push(`${title} as ${names.join(', ')}`)
        write(expression, depth + 2, lines)
      }
      break
    case 'infer':
      writeUnderTitle(query.infer)
      break
    case 'from':
      if (query.from?.kind === 'table') lines.push(`${title} ${printSource(query.from)}`)
      if (query.from?.kind !== 'subquery') break
      lines.push(title)
      writeQuery(query.from.query, depth + 2, lines)
      break
    case 'filter':
    case 'span_filter':
    case 'trace_filter':
    case 'final_filter':
    case 'comparison_key': {
      const expression = query[clauseProperties[name]]
      writeUnderTitle(expression && [expression])
      break
    }
    case 'sample':
      if (query.sample !== undefined) lines.push(`${title} ${printSample(query.sample)}`)
      break
    case 'sort':
      if (query.sort !== undefined) writeSort(query.sort, depth, lines)
      break
    case 'limit':
    case 'offset':
    case 'preview_length':
    case 'inference_budget': {
      const count = query[clauseProperties[name]]
      if (count !== undefined) lines.push(`${title} ${count.value}`)
      break
    }
    case 'cursor':
      if (query.cursor !== undefined) lines.push(`${title} ${printString(query.cursor.value)}`)
      break
    default:
      unreachable(name)
  }
}

function writePivot({ measures, key }: Pivot, depth: number, lines: string[]): void {
  const indent = '  '.repeat(depth)
  lines.push(`${indent}  pivot`)
  for (const measure of measures) writeProjection(measure, depth + 2, lines)
  if (key === undefined) return
  lines.push(`${indent}    for`)
  write(key, depth + 3, lines)
}

function writeSort(keys: readonly SortKey[], depth: number, lines: string[]): void {
  const indent = '  '.repeat(depth)
  lines.push(`${indent}  sort`)
  for (const { expression, direction } of keys) {
    lines.push(`${indent}    ${direction}`)
    write(expression, depth + 3, lines)
  }
}

function writeProjection({ expression, alias }: Projection, depth: number, lines: string[]): void {
  if (alias === undefined) {
    write(expression, depth, lines)
  } else {
    lines.push(`${'  '.repeat(depth)}as ${JSON.stringify(alias)}`)
    write(expression, depth + 1, lines)
  }
}

function write(expression: Expression, depth: number, lines: string[]): void {
  const indent = '  '.repeat(depth)
  lines.push(indent + labelOf(expression))
  switch (expression.kind) {
    case 'object':
      for (const [key, value] of expression.entries) {
        lines.push(`${indent}  key ${JSON.stringify(key)}`)
        write(value, depth + 2, lines)
      }
      return
    case 'conditional':
      for (const { condition, result } of expression.branches) {
        lines.push(`${indent}  when`)
        write(condition, depth + 2, lines)
        lines.push(`${indent}  then`)
        write(result, depth + 2, lines)
      }
      lines.push(`${indent}  else`)
      write(expression.otherwise, depth + 2, lines)
      return
    case 'star':
      for (const field of expression.replace) writeProjection(field, depth + 1, lines)
      return
    case 'call':
      for (const argument of expression.arguments) write(argument, depth + 1, lines)
      if (expression.filter === undefined) return
      lines.push(`${indent}  filter`)
      write(expression.filter, depth + 2, lines)
      return
    default:
      for (const child of childrenOf(expression)) write(child, depth + 1, lines)
  }
}

function labelOf(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      return `literal ${printLiteral(expression.value)}`
    case 'interval':
      return `interval ${expression.value} ${expression.unit}`
    case 'path':
      return `path ${printPath(expression.parts)}`
    case 'access':
      return `access ${printSteps(expression.parts)}`
    case 'star':
      return expression.replace.length === 0 ? 'star' : 'star replace'
    case 'call':
      return `call ${expression.name}${expression.distinct ? ' distinct' : ''}`
    case 'comparison':
    case 'arithmetic':
      return `${expression.kind} ${expression.operator}`
    case 'like':
      return `${expression.negated ? 'not ' : ''}${expression.caseInsensitive ? 'ilike' : 'like'}`
    case 'is_null':
    case 'includes':
    case 'match':
    case 'in':
    case 'between':
      return `${expression.negated ? 'not ' : ''}${expression.kind}`
    default:
      return expression.kind
  }
}
