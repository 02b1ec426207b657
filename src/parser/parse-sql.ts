import { AssayError } from '../error.ts'
import type { Query, SubquerySource } from './ast.ts'
import { checkClauses } from './check-clauses.ts'
import { FaultList } from './fault-list.ts'
import { readName } from './parse-projection.ts'
import { readSqlClause } from './parse-sql-clause.ts'
import { unknownSource } from './parse-sql-source.ts'
import { prefixFaults } from './sql-prefix.ts'
import type { SqlProgress } from './sql-progress.ts'
import { type NamedQueries, SqlReader } from './sql-reader.ts'
import { explainSqlFault, unsupported } from './sql-refusal.ts'
import { shorten } from './token.ts'
import type { TokenStream } from './token-stream.ts'

/**
 * Reads a whole text of SQL, from its `select` or `with` on. The clauses after the select list may
 * stand in any order, and the source may be missing. After a fault reading goes on at the next clause;
 * the faults of all clauses are thrown together.
 */
export function readSqlQuery(tokens: TokenStream): Query {
  tokens.startSql()
  const query = readStatement(new SqlReader(tokens, readStatement))
  tokens.accept(';')
  if (tokens.current.kind !== 'end') {
    throw tokens.unexpected('the end of the text', 'a text holds one query')
  }
  checkClauses(query)
  return query
}

/** Reads `[with …] select …` up to the end of the text or the `)` of a nested query. */
function readStatement(reader: SqlReader): Query {
  const { tokens } = reader
  const { start } = tokens.current
  const { nesting } = tokens
  const faults = new FaultList()
  const scope = tokens.is('with') ? readNamedQueries(reader, faults) : reader
  const progress: SqlProgress = { clauses: {}, given: new Set(), expected: undefined }
  while (!faults.isFull) {
    const before = tokens.previousEnd
    if (progress.expected !== undefined) tokens.mayTake('clause')
    try {
      if (progress.given.size > 0 && scope.isAtEnd) break
      readSqlClause(scope, progress)
    } catch (thrown) {
      faults.add(explainSqlFault(thrown, tokens))
      // A clause's word within a select list is more likely a field that needs quotes.
      const inList = progress.expected === undefined && !progress.given.has('from')
      tokens.skipToSqlClause(scope.brackets, nesting, before, inList ? 'from' : undefined)
      progress.given.add('select')
      progress.expected = undefined
    }
  }
  const clauses = withoutEmptySelect(progress.clauses)
  const query: Query = { kind: 'query', ...clauses, span: tokens.spanFrom(start) }
  if (faults.isEmpty && scope.sourceName !== undefined) {
    for (const fault of prefixFaults(query, scope.sourceName)) faults.add(fault)
  }
  faults.throwAny()
  return query
}

/** A query that describes fields selects nothing: its `select *` only makes it SQL. */
function withoutEmptySelect(clauses: SqlProgress['clauses']): SqlProgress['clauses'] {
  if (clauses.infer === undefined || clauses.distinct || clauses.select?.length !== 1) {
    return clauses
  }
  const { expression } = clauses.select[0]!
  if (expression.kind !== 'star' || expression.replace.length > 0) return clauses
  const { select: _, ...others } = clauses
  return others
}

/** Reads `with name as (query), …`, where each query may use those before it. */
function readNamedQueries(reader: SqlReader, faults: FaultList): SqlReader {
  const { tokens } = reader
  const { nesting, previousEnd } = tokens
  const named = new Map(reader.named ?? [])
  const names = new Set<string>()
  try {
    tokens.advance()
    if (tokens.is('recursive') && tokens.peek(1).kind === 'word') {
      throw unsupported(tokens, 'WITH RECURSIVE is not supported', 'write a query for each step')
    }
    do {
      const { start } = tokens.current
      const name = readQueryName(tokens)
      if (names.has(name)) {
        const message = `WITH names two queries "${shorten(name)}"`
        throw new AssayError('BIND_DUPLICATE_NAME', message, { span: tokens.spanFrom(start) })
      }
      names.add(name)
      const source = readNamedQuery(reader, named, faults)
      named.set(name, source)
    } while (tokens.accept(','))
  } catch (thrown) {
    faults.add(explainSqlFault(thrown, tokens))
    tokens.skipToSqlClause(reader.brackets, nesting, previousEnd, 'select')
    return reader.knowing(undefined)
  }
  return reader.knowing(named)
}

function readQueryName(tokens: TokenStream): string {
  const expected = 'a name for the query in WITH'
  if (tokens.current.kind === 'string' || tokens.reserved.has(tokens.current.keyword)) {
    throw tokens.unexpected(expected)
  }
  return readName(tokens, expected).toLowerCase()
}

/** Reads `as (query)`. A query with faults is taken for an empty one, so that its uses are none. */
function readNamedQuery(reader: SqlReader, named: NamedQueries, faults: FaultList): SubquerySource {
  const { tokens } = reader
  if (tokens.is('(')) {
    throw tokens.unexpected('AS', 'name the columns in the select list: SELECT a AS x')
  }
  tokens.expect('as', 'and a query in parentheses')
  const { start } = tokens.expect('(', 'and a query after AS')
  const inner = reader.inner(named)
  let query: Query | undefined
  try {
    query = readStatement(inner)
  } catch (thrown) {
    faults.add(thrown)
    tokens.skipToSqlEnd(inner.brackets)
  }
  tokens.expect(')', 'to close the query')
  const span = tokens.spanFrom(start)
  return query === undefined ? unknownSource(span) : { kind: 'subquery', query, span }
}
