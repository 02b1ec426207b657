import { AssayError, type Span } from '../error.ts'
import type { Query, Source } from './ast.ts'
import { type ClauseName, clauseProperties } from './clause.ts'
import { throwFaults } from './fault-list.ts'

/**
 * Checks which clauses stand together, in nested queries as well. Only the outermost query may lack a
 * source. All that is wrong is reported at once, as PARSE_CONFLICTING_CLAUSES and
 * PARSE_MISSING_CLAUSE.
 */
export function checkClauses(query: Query): void {
  throwFaults([...conflictsIn(query), ...gapsIn(query, false)])
}

/** Checks a source that is given apart from its query. */
export function checkSource(source: Source): void {
  if (source.kind === 'table') return
  throwFaults([...conflictsIn(source.query), ...gapsIn(source.query, true)])
}

/** Only what stands together and must not: of a text with faults, other clauses may be unread. */
export function conflictsIn(query: Query): readonly AssayError[] {
  const faults: AssayError[] = []
  const refuse = (name: ClauseName, others: readonly ClauseName[], hint: string): void => {
    if (!has(query, name)) return
    for (const other of others) {
      const span = spanOf(query, other)
      if (span === undefined) continue
      const message = `the clauses "${name}" and "${other}" cannot stand together`
      faults.push(new AssayError('PARSE_CONFLICTING_CLAUSES', message, { span, hint }))
      return
    }
  }
  refuse(
    'infer',
    ['select', 'dimensions', 'measures', 'pivot', 'final_dimensions', 'final_measures'],
    'a query with "infer" describes fields and gives no records and no groups',
  )
  refuse(
    'select',
    ['measures'],
    'group with "dimensions" and "measures", or put the aggregates into "select"',
  )
  for (const name of ['weighted_scores', 'custom_columns', 'comparison_key'] as const) {
    refuse(name, ['infer'], 'a query with "infer" describes fields and gives no records')
  }
  refuse(
    'weighted_scores',
    ['dimensions', 'measures', 'pivot'],
    '"weighted_scores" adds a column to records, and a grouped query has none',
  )
  if (query.from?.kind === 'subquery') faults.push(...conflictsIn(query.from.query))
  return faults
}

function gapsIn(query: Query, nested: boolean): readonly AssayError[] {
  const faults: AssayError[] = []
  const end = endOf(query)
  const report = (message: string, span: Span, hint: string): void => {
    faults.push(new AssayError('PARSE_MISSING_CLAUSE', message, { span, hint }))
  }
  const grouped = has(query, 'dimensions') || has(query, 'measures')
  if (!grouped && !has(query, 'select') && !has(query, 'infer')) {
    report(
      'the query has none of the clauses "select", "dimensions", "measures" and "infer"',
      end,
      'add "select: *" to get whole records',
    )
  }
  if (nested && query.from === undefined) faults.push(missingSource(query))
  const { pivot } = query
  if (pivot !== undefined) {
    // Without measures and columns, a name in `pivot` stands for nothing.
    const named = pivot.measures.find(({ expression }) => expression.kind === 'path')
    if (named !== undefined && !has(query, 'measures') && !has(query, 'select')) {
      report(
        '"pivot" names a measure, and the query has no clause "measures"',
        named.span,
        'add "measures: … as name", or put the aggregate itself into "pivot"',
      )
    }
    if (pivot.key === undefined && !has(query, 'dimensions')) {
      report(
        '"pivot" has no key whose values become columns',
        pivot.span,
        'write the key after "for", or group by it as the last of the "dimensions"',
      )
    }
  }
  for (const name of ['final_dimensions', 'final_measures'] as const) {
    const span = spanOf(query, name)
    if (span === undefined || grouped || has(query, 'pivot')) continue
    report(
      `"${name}" groups the groups of a query, and this query has none`,
      span,
      'add "dimensions" or "measures"',
    )
  }
  if (query.from?.kind === 'subquery') faults.push(...gapsIn(query.from.query, true))
  return faults
}

/** The error for a query whose source is given nowhere. */
export function missingSource(query: Query): AssayError {
  return new AssayError('PARSE_MISSING_CLAUSE', 'the query has no clause "from"', {
    span: endOf(query),
    hint: 'add "from: experiment(\'id\')", or another source',
  })
}

/** Where what is missing could stand. */
export function endOf({ span }: Query): Span {
  return { ...span, start: span.end }
}

function has(query: Query, name: ClauseName): boolean {
  return query[clauseProperties[name]] !== undefined
}

/** Where the clause's value stands. */
function spanOf(query: Query, name: ClauseName): Span | undefined {
  const value = query[clauseProperties[name]]
  if (value === undefined || typeof value === 'boolean') return undefined
  if (!('length' in value)) return value.span
  const [first] = value
  const last = value.at(-1)
  return first && last && { ...first.span, end: last.span.end }
}
