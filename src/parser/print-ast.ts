import type { Expression, Projection, Query } from './ast.ts'
import { childrenOf } from './children.ts'
import { printLiteral, printPath, printSource, printString } from './print.ts'

/** Prints a syntax tree one node a line, children indented below their parent. */
export function printAst(node: Query | Expression): string {
  const lines: string[] = []
  if (node.kind === 'query') writeQuery(node, lines)
  else write(node, 0, lines)
  return lines.join('\n')
}

function writeQuery(query: Query, lines: string[]): void {
  lines.push('query')
  for (const name of ['select', 'dimensions', 'measures'] as const) {
    const projections = query[name]
    if (projections === undefined) continue
    lines.push(`  ${name}`)
    for (const projection of projections) writeProjection(projection, lines)
  }
  if (query.from) lines.push(`  from ${printSource(query.from)}`)
  if (query.filter !== undefined) {
    lines.push('  filter')
    write(query.filter, 2, lines)
  }
  if (query.sort !== undefined) {
    lines.push('  sort')
    for (const { expression, direction } of query.sort) {
      lines.push(`    ${direction}`)
      write(expression, 3, lines)
    }
  }
  if (query.limit !== undefined) lines.push(`  limit ${query.limit.value}`)
  if (query.offset !== undefined) lines.push(`  offset ${query.offset.value}`)
  if (query.cursor !== undefined) lines.push(`  cursor ${printString(query.cursor.value)}`)
}

function writeProjection({ expression, alias }: Projection, lines: string[]): void {
  if (alias === undefined) {
    write(expression, 2, lines)
  } else {
    lines.push(`    as ${JSON.stringify(alias)}`)
    write(expression, 3, lines)
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
