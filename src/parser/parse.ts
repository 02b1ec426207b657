import { AssayError } from '../error.ts'
import type { Expression, Query } from './ast.ts'
import { followingWords } from './keyword.ts'
import { readWholeExpression } from './parse-expression.ts'
import { readQuery } from './parse-query.ts'
import { TokenStream } from './token-stream.ts'

/** What a search text may be: a query of clauses, or one expression to filter by. */
export type Search =
  | { readonly kind: 'query'; readonly query: Query }
  | { readonly kind: 'expression'; readonly expression: Expression }

/** Parses a query of clauses. Throws an `AssayError` with a span for any text that is not one. */
export function parseQuery(text: string): Query {
  const tokens = new TokenStream(text)
  refuseSql(tokens)
  return readQuery(tokens)
}

/** Parses one expression, as filter mode takes it. Throws an `AssayError` with a span otherwise. */
export function parseExpression(text: string): Expression {
  const tokens = new TokenStream(text)
  refuseSql(tokens)
  return readWholeExpression(tokens)
}

/** Parses either form; a text that begins with a clause's name and colon, or with `|`, is clauses. */
export function parseSearch(text: string): Search {
  const tokens = new TokenStream(text)
  refuseSql(tokens)
  if (tokens.is('|') || tokens.atClauseHeader()) return { kind: 'query', query: readQuery(tokens) }
  return { kind: 'expression', expression: readWholeExpression(tokens) }
}

/** A field called `select` is still a field: SQL is told by what can only follow the keyword. */
function refuseSql(tokens: TokenStream): void {
  const { keyword, start, end } = tokens.current
  if (keyword !== 'select' && keyword !== 'with') return
  const next = tokens.peek(1)
  const operator = next.kind === 'symbol' && next.keyword !== '*' && next.keyword !== '('
  if (next.kind === 'end' || operator || followingWords.has(next.keyword)) return
  throw new AssayError('BIND_UNSUPPORTED', 'SQL is not supported yet', {
    span: { start, end },
    hint: 'write clauses: "select: *", then on a new line "from: experiment(\'id\')"',
  })
}
