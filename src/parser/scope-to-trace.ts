import type { Expression, Query } from './ast.ts'

/** Narrows a query to the spans of one trace; a query in `from` is where records are read. */
export function scopeToTrace(query: Query, rootSpanId: string): Query {
  if (query.from?.kind === 'subquery') {
    return { ...query, from: { ...query.from, query: scopeToTrace(query.from.query, rootSpanId) } }
  }
  const { filter, span } = query
  const isInTrace: Expression = {
    kind: 'comparison',
    operator: 'eq',
    left: { kind: 'path', parts: ['root_span_id'], span },
    right: { kind: 'literal', value: rootSpanId, span },
    span,
  }
  return {
    ...query,
    filter: filter ? { kind: 'and', operands: [filter, isInTrace], span: filter.span } : isInTrace,
  }
}
