import type { Projection } from './ast.ts'
import { readExpression } from './parse-expression.ts'
import { readName, readSelected } from './parse-projection.ts'
import type { SqlReader } from './sql-reader.ts'

/** Reads an item of a select list, or of another list whose items may have names. */
export function readSqlSelected(scope: SqlReader): Projection {
  const { tokens } = scope
  const { start } = tokens.current
  if (tokens.is('*')) return readSelected(tokens)
  const expression = readExpression(tokens)
  const alias = tokens.accept('as') ? readName(tokens, 'a name after AS') : scope.acceptBareAlias()
  return { expression, alias, span: tokens.spanFrom(start) }
}
