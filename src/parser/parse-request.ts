import { AssayError } from '../error.ts'
import type { Query, Source } from './ast.ts'
import { checkSource, missingSource } from './check-clauses.ts'
import type { GivenQuery } from './given-query.ts'
import { parseQuery, parseSearch } from './parse.ts'
import { readSource } from './parse-query.ts'
import { TokenStream } from './token-stream.ts'

/**
 * The query that a request asks for: a whole query, or, with a source given apart, a query without
 * one or the rows for which an expression is true.
 */
export function parseRequest(given: GivenQuery, from: string | undefined): Query {
  if (typeof given !== 'string') {
    return from === undefined ? withOwnSource(given.tree) : withSource(given.tree, from)
  }
  if (from === undefined) return withOwnSource(parseQuery(given))
  const search = parseSearch(given)
  if (search.kind === 'query') return withSource(search.query, from)
  const { expression } = search
  const star = { kind: 'star', replace: [], span: expression.span } as const
  return {
    kind: 'query',
    select: [{ expression: star, alias: undefined, span: expression.span }],
    from: readSourceOption(from),
    filter: expression,
    span: expression.span,
  }
}

function withOwnSource(query: Query): Query {
  if (query.from === undefined) throw missingSource(query)
  return query
}

function withSource(query: Query, from: string): Query {
  if (query.from !== undefined) {
    throw new AssayError('REQUEST_INVALID', 'the query has a from clause of its own', {
      path: 'from',
      hint: 'give `from` only with a filter expression or a query without a source',
    })
  }
  return { ...query, from: readSourceOption(from) }
}

/** Spans of its errors would point into the query, so they are left out. */
function readSourceOption(text: string): Source {
  try {
    const tokens = new TokenStream(text)
    const source = readSource(tokens)
    if (tokens.current.kind !== 'end') throw tokens.unexpected('a source only')
    checkSource(source)
    return source
  } catch (thrown) {
    if (!(thrown instanceof AssayError)) throw thrown
    throw new AssayError('REQUEST_INVALID', `from: ${thrown.message}`, {
      path: 'from',
      ...(thrown.hint !== undefined && { hint: thrown.hint }),
    })
  }
}
