/**
 * Changes to queries as the service prints them: one clause a line, so that clauses can be told by the
 * beginnings of lines. Texts in a query never hold a line break of their own.
 */

/** What a clause says; undefined where the query has none. */
export function clauseOf(query: string, name: string): string | undefined {
  const line = query.split('\n').find((each) => each.startsWith(`${name}: `))
  return line?.slice(name.length + 2)
}

/** Puts clauses in the place of those of their names, or takes them out. */
export function withClauses(
  query: string,
  clauses: Readonly<Record<string, string | undefined>>,
): string {
  const names = Object.keys(clauses)
  const others = query
    .split('\n')
    .filter((line) => !names.some((name) => line.startsWith(`${name}: `)))
  const added = names.flatMap((name) => {
    const value = clauses[name]
    return value === undefined ? [] : [`${name}: ${value}`]
  })
  return [...others, ...added].join('\n')
}

/** Narrows what the query finds by a further condition. */
export function withCondition(query: string, condition: string | undefined): string {
  if (condition === undefined) return query
  const filter = clauseOf(query, 'filter')
  return withClauses(query, {
    filter: filter === undefined ? condition : `(${filter}) and ${condition}`,
  })
}

/** Whether rows are records as they are stored, of which any number may follow each other. */
export function isOfRecords(query: string): boolean {
  return clauseOf(query, 'select') === '*' && clauseOf(query, 'unpivot') === undefined
}

/** Characters of a value that a cell can show. */
const previewLength = 300

/**
 * The same rows with their long values cut, as a table shows them.
 *
 * @param fields what is selected besides, since it might be cut away
 */
export function forTable(query: string, fields: readonly string[] = []): string {
  if (!isOfRecords(query) || clauseOf(query, 'preview_length') !== undefined) return query
  const select = ['*', ...fields].join(', ')
  return withClauses(query, { select, preview_length: String(previewLength) })
}

/** Counts, or groups, what the query would find. */
export function measured(
  query: string,
  measures: string,
  dimensions?: string | undefined,
  sort?: string | undefined,
): string {
  const without = { select: undefined, sort: undefined, limit: undefined, offset: undefined }
  const more = { preview_length: undefined, cursor: undefined }
  return withClauses(query, { ...without, ...more, dimensions, measures, sort })
}
