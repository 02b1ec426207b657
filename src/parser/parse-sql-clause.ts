import type { Projection, SortKey } from './ast.ts'
import { readCount, readCursor } from './parse-clause.ts'
import { readExpression } from './parse-expression.ts'
import { readList, readSortKey } from './parse-projection.ts'
import { readGroupKeys } from './parse-sql-grouping.ts'
import { readSqlSelected } from './parse-sql-selected.ts'
import { readSetting } from './parse-sql-setting.ts'
import { readFrom, readSqlPivot, readSqlUnpivot, readTableSample } from './parse-sql-source.ts'
import { atSqlClause } from './sql-keyword.ts'
import { markGiven, type SqlProgress } from './sql-progress.ts'
import type { SqlReader } from './sql-reader.ts'
import { foreignClause, unsupported } from './sql-refusal.ts'
import type { Token } from './token.ts'
import type { TokenStream } from './token-stream.ts'

/** Reads the clause of a query that must begin at the current token. */
export function readSqlClause(scope: SqlReader, progress: SqlProgress): void {
  const { tokens } = scope
  const header = tokens.current
  if (progress.given.size === 0 && !tokens.is('select')) throw tokens.unexpected('SELECT')
  if (!atSqlClause((distance) => tokens.peek(distance))) {
    throw scope.unfinished(progress.expected ?? 'a clause of SQL')
  }
  if (header.keyword === 'select' && progress.given.size > 0) {
    const fault = scope.unfinished(progress.expected ?? 'a clause of SQL')
    tokens.skipToSqlEnd(scope.brackets)
    throw fault
  }
  const foreign = foreignClause(tokens)
  if (foreign !== undefined) {
    if (foreign.joinsQueries) tokens.skipToSqlEnd(scope.brackets)
    throw foreign.fault
  }
  tokens.advance()
  progress.expected = readValue(scope, progress, header)
}

/** Reads what follows the clause's first word, and says what could stand after it. */
function readValue(scope: SqlReader, progress: SqlProgress, header: Token): string {
  const { tokens } = scope
  const { clauses } = progress
  if (header.keyword !== 'unpivot' && header.keyword !== 'offset') {
    markGiven(progress, header.keyword, header)
  }
  switch (header.keyword) {
    case 'select':
      if (tokens.accept('distinct')) clauses.distinct = true
      clauses.select = readSelectList(scope)
      return 'an operator, AS, "," or FROM'
    case 'from':
      clauses.from = readFrom(scope)
      return 'the next clause'
    case 'unpivot':
      clauses.unpivot = [...(clauses.unpivot ?? []), readSqlUnpivot(tokens, header)]
      return 'the next clause'
    case 'pivot':
      clauses.pivot = readSqlPivot(scope, header)
      return 'the next clause'
    case 'tablesample':
      clauses.sample = readTableSample(tokens, header)
      return 'REPEATABLE or the next clause'
    case 'where':
      clauses.filter = readExpression(tokens)
      return 'an operator or the next clause'
    case 'group':
      tokens.expect('by', 'after GROUP')
      clauses.dimensions = readGroupKeys(tokens)
      return 'an operator, "," or the next clause'
    case 'having':
      clauses.finalFilter = readExpression(tokens)
      return 'an operator or the next clause'
    case 'order':
      tokens.expect('by', 'after ORDER')
      clauses.sort = readList(tokens, () => readSqlSortKey(tokens))
      return 'an operator, ASC, DESC, "," or the next clause'
    case 'limit':
      clauses.limit = readCount(tokens, 'LIMIT')
      if (tokens.is(',')) throw tokens.unexpected('the next clause', 'write LIMIT 10 OFFSET 20')
      return 'the next clause'
    case 'offset':
      readOffset(tokens, progress, header)
      return 'the next clause'
    case 'settings':
      do readSetting(scope, progress)
      while (tokens.accept(','))
      return '"," or the end of the query'
    default:
      throw scope.unfinished(progress.expected ?? 'a clause of SQL')
  }
}

function readSelectList(scope: SqlReader): Projection[] {
  const { tokens } = scope
  if (tokens.is('on') && tokens.peek(1).keyword === '(') {
    throw unsupported(
      tokens,
      'DISTINCT ON is not supported',
      'group by those fields and take any_value(…) of the others',
    )
  }
  if (tokens.is('from')) throw tokens.unexpected('a value', 'SELECT * gives whole records')
  if (tokens.is('top') && tokens.peek(1).kind === 'number') {
    throw tokens.unexpected('a value', 'write LIMIT and the number at the end')
  }
  return readList(tokens, () => readSqlSelected(scope))
}

function readSqlSortKey(tokens: TokenStream): SortKey {
  const { start } = tokens.current
  const key = readSortKey(tokens)
  if (!tokens.accept('nulls')) return key
  if (tokens.is('first')) {
    throw unsupported(
      tokens,
      'nulls come last in every order',
      'to have them first, sort by "x IS NULL DESC" before x',
    )
  }
  tokens.expect('last', 'after NULLS')
  return { ...key, span: tokens.spanFrom(start) }
}

/** Reads a number of rows to leave out, or the text of a page. */
function readOffset(tokens: TokenStream, progress: SqlProgress, header: Token): void {
  const { kind } = tokens.current
  if (kind === 'string' || kind === 'quoted' || tokens.is('null')) {
    markGiven(progress, 'cursor', header)
    progress.clauses.cursor = readCursor(tokens)
    return
  }
  markGiven(progress, 'offset', header)
  progress.clauses.offset = readCount(tokens, 'OFFSET')
}
