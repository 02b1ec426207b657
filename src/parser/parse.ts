import { AssayError } from '../error.ts'
import type { Expression, Query } from './ast.ts'
import { followingWords } from './keyword.ts'
import { oneExpressionHint, readWholeExpression } from './parse-expression.ts'
import { readQuery } from './parse-query.ts'
import { readSqlQuery } from './parse-sql.ts'
import { refuseStatement } from './sql-refusal.ts'
import { type Expected, TokenStream } from './token-stream.ts'

/** What a search text may be: a query of clauses, or one expression to filter by. */
export type Search =
  | { readonly kind: 'query'; readonly query: Query }
  | { readonly kind: 'expression'; readonly expression: Expression }

/**
 * Parses a query of clauses or of SQL, which begins with `select` or `with`. Throws an `AssayError`
 * with a span for any text that is neither.
 */
export function parseQuery(text: string): Query {
  const tokens = new TokenStream(text)
  if (beginsLikeSql(tokens) && !tokens.atClauseHeader()) return readSqlQuery(tokens)
  refuseStatement(tokens)
  return readQuery(tokens)
}

/** Parses one expression, as filter mode takes it. Throws an `AssayError` with a span otherwise. */
export function parseExpression(text: string): Expression {
  const tokens = new TokenStream(text)
  if (isSqlSearch(tokens)) throw tokens.unexpected('an expression', oneExpressionHint)
  return readWholeExpression(tokens)
}

/** Parses any form; a text that begins with a clause's name and colon, or with `|`, is clauses. */
export function parseSearch(text: string): Search {
  return readSearch(new TokenStream(text))
}

/** What could go on where the text ends, as far as it can be read; the words are in lower case. */
export function expectedAfter(text: string): Expected {
  const expected: Expected = { kinds: new Set(), words: new Set() }
  const tokens = new TokenStream(text, expected)
  try {
    // A whole text of one word is a field; one that is still written is a query.
    if (beginsLikeSql(tokens) && tokens.peek(1).kind === 'end') readSqlQuery(tokens)
    else readSearch(tokens)
  } catch (thrown) {
    if (!(thrown instanceof AssayError) || thrown.family !== 'user') throw thrown
  }
  return expected
}

function readSearch(tokens: TokenStream): Search {
  if (isSqlSearch(tokens)) return { kind: 'query', query: readSqlQuery(tokens) }
  refuseStatement(tokens)
  if (tokens.is('|') || tokens.atClauseHeader()) return { kind: 'query', query: readQuery(tokens) }
  return { kind: 'expression', expression: readWholeExpression(tokens) }
}

function beginsLikeSql(tokens: TokenStream): boolean {
  return tokens.is('select') || tokens.is('with')
}

/** A field called `select` is still a field: SQL is told by what can only follow the keyword. */
function isSqlSearch(tokens: TokenStream): boolean {
  if (!beginsLikeSql(tokens)) return false
  const next = tokens.peek(1)
  const operator = next.kind === 'symbol' && next.keyword !== '*' && next.keyword !== '('
  return next.kind !== 'end' && !operator && !followingWords.has(next.keyword)
}
