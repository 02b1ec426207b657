import { AssayError } from '../error.ts'
import { joinWords } from './sql-keyword.ts'
import type { TokenStream } from './token-stream.ts'

/** Says of what was thrown at a word that this SQL does not have what to write in its place. */
export function explainSqlFault(thrown: unknown, tokens: TokenStream): unknown {
  if (!(thrown instanceof AssayError) || thrown.code !== 'PARSE_UNEXPECTED_TOKEN') return thrown
  // The stream stands at the unexpected token, unless the fault was found after it.
  if (thrown.span?.start !== tokens.current.start) return thrown
  if (tokens.is('select')) {
    return unsupported(
      tokens,
      'a query within a query may stand in FROM only',
      "run the inner query on its own and give its values: id IN ('a', 'b')",
    )
  }
  if (tokens.is('over')) {
    return unsupported(
      tokens,
      'window functions are not supported',
      'aggregate with GROUP BY, or compute over the rows of the answer',
    )
  }
  return thrown
}

/** A clause of other dialects of SQL. */
interface ForeignClause {
  readonly fault: AssayError
  /** Whether another query follows it. */
  readonly joinsQueries: boolean
}

/** The clause of another dialect that begins at the current token, if one does. */
export function foreignClause(tokens: TokenStream): ForeignClause | undefined {
  const refuse = (hint: string, joinsQueries = false): ForeignClause => {
    const message = `${tokens.current.keyword.toUpperCase()} is not supported`
    return { fault: unsupported(tokens, message, hint), joinsQueries }
  }
  switch (tokens.current.keyword) {
    case 'union':
      return refuse("several objects of one kind are one source: experiment('a', 'b')", true)
    case 'intersect':
      return refuse('join the conditions of both queries with AND', true)
    case 'except':
      if (tokens.peek(1).keyword === '(') return refuse('name the fields that you want')
      return refuse('join the conditions of both queries with AND NOT', true)
    case 'window':
      return refuse('aggregate with GROUP BY')
    case 'qualify':
      return refuse('test groups with HAVING')
    case 'fetch':
      return refuse('write LIMIT and the number of rows')
    default:
      return undefined
  }
}

/** Refuses a second source: a comma or a word of a join after the first. */
export function refuseJoin(tokens: TokenStream): void {
  const { keyword } = tokens.current
  if (keyword !== ',' && !joinWords.has(keyword)) return
  throw unsupported(
    tokens,
    'joins are not supported: a query has one source',
    "give several ids to one source: experiment('a', 'b')",
  )
}

const writingWords: ReadonlyMap<string, readonly string[]> = new Map([
  ['insert', ['into']],
  ['delete', ['from']],
  ['merge', ['into']],
  ['drop', ['table', 'view', 'index']],
  ['create', ['table', 'view', 'index', 'or', 'temp', 'temporary']],
  ['alter', ['table', 'view', 'index']],
  ['truncate', ['table']],
])

/** Refuses a text that begins like a statement of SQL that is no query. */
export function refuseStatement(tokens: TokenStream): void {
  const { keyword } = tokens.current
  const next = tokens.peek(1)
  if (keyword === 'explain' && (next.keyword === 'select' || next.keyword === 'with')) {
    throw unsupported(
      tokens,
      'EXPLAIN is not a part of the text',
      'send the query alone to the explain route of the API',
    )
  }
  const updates = keyword === 'update' && next.kind !== 'symbol' && tokens.peek(2).keyword === 'set'
  if (!updates && !writingWords.get(keyword)?.includes(next.keyword)) return
  throw unsupported(
    tokens,
    `queries only read: ${keyword.toUpperCase()} is not supported`,
    'write records with the insert routes of the API',
  )
}

/** The error for what other dialects of SQL have at the current token. */
export function unsupported(tokens: TokenStream, message: string, hint: string): AssayError {
  const { start, end } = tokens.current
  return new AssayError('BIND_UNSUPPORTED', message, { span: { start, end }, hint })
}
