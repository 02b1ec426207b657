/** Output columns: what they are called, and how `sort` refers to them. */
import { AssayError } from '../error.ts'
import type { Expression, Projection } from '../parser/ast.ts'
import { printExpression } from '../parser/print.ts'
import type { OutputColumn } from './bound.ts'
import type { Scope } from './scope.ts'

/** `sort: 2` means the second output column. */
export function columnByOrdinal(node: Expression, columns: readonly OutputColumn[]) {
  if (node.kind !== 'literal' || typeof node.value !== 'number') return undefined
  const column = columns[node.value - 1]
  if (column) return column.expression
  throw new AssayError('BIND_INVALID_SORT', `there is no output column ${node.value}`, {
    span: node.span,
    hint: `a number in sort counts the ${columns.length} output columns from 1`,
  })
}

/** In `sort`, an alias hides a field of the same name. */
export function aliasOf(node: Expression, scope: Scope) {
  if (node.kind !== 'path' || node.parts.length !== 1) return undefined
  return scope.alias(String(node.parts[0]))
}

/** The explicit alias, the last name of a path, or the expression's text. */
export function columnName({ expression, alias }: Projection): string {
  if (alias !== undefined) return alias
  if (expression.kind === 'path') {
    const name = expression.parts.findLast((part) => typeof part === 'string')
    if (name !== undefined) return String(name)
  }
  return printExpression(expression)
}

export function checkUnique(names: Set<string>, name: string, projection: Projection): void {
  if (names.has(name)) throw duplicateName(name, projection)
  names.add(name)
}

export function duplicateName(name: string, projection: Projection): AssayError {
  return new AssayError('BIND_DUPLICATE_NAME', `two output columns are named "${name}"`, {
    span: projection.span,
    hint: 'give one of them another name with `as`',
  })
}
