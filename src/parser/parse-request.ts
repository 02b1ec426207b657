import { AssayError } from '../error.ts'
import type { Query, Source } from './ast.ts'
import { parseQuery, parseSearch } from './parse.ts'

/**
 * The query that a request asks for: clauses as they are, or, with a source given apart, the rows
 * for which an expression is true.
 */
export function parseRequest(text: string, from: string | undefined): Query {
  if (from === undefined) return parseQuery(text)
  const search = parseSearch(text)
  if (search.kind === 'query') {
    throw new AssayError('REQUEST_INVALID', 'the query has a from clause of its own', {
      path: 'from',
      hint: 'give `from` only with a filter expression',
    })
  }
  const { expression } = search
  const star = { kind: 'star', replace: [], span: expression.span } as const
  return {
    kind: 'query',
    select: [{ expression: star, alias: undefined, span: expression.span }],
    dimensions: undefined,
    measures: undefined,
    from: parseSource(from),
    filter: expression,
    sort: undefined,
    limit: undefined,
    offset: undefined,
    cursor: undefined,
    span: expression.span,
  }
}

/** Spans of its errors would point into the expression, so they are left out. */
function parseSource(text: string): Source {
  try {
    const query = parseQuery(`select: * | from: ${text}`)
    const { from, filter, sort, limit, offset, cursor } = query
    if (filter || sort || limit || offset || cursor) {
      throw new AssayError('REQUEST_INVALID', 'from must be a source only', {
        hint: "such as experiment('…')",
      })
    }
    return from!
  } catch (thrown) {
    if (!(thrown instanceof AssayError)) throw thrown
    throw new AssayError('REQUEST_INVALID', `from: ${thrown.message}`, {
      path: 'from',
      ...(thrown.hint !== undefined && { hint: thrown.hint }),
    })
  }
}
