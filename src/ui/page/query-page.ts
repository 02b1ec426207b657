/** Cuts any query into pages, so that an answer of a million rows never comes at once. */

/** Groups are small; rows may hold whole documents, and a trace has any number of spans. */
const pageSizes = { groups: 1000, rows: 200, traces: 20 } as const

export interface PagePlan {
  /** The query of one page. */
  readonly query: string
  /** What it is limited to: rows, or of the shape `traces` traces. */
  readonly limit: number
}

export interface Paging {
  /** The query's own limit; undefined without one. */
  readonly limit: number | undefined
  readonly offset: number
  /** Where the query begins by itself. */
  readonly cursor: string | undefined
  /** Rows of a sample without a seed are others each time, so its pages would not fit together. */
  readonly isOnce: boolean
  readonly pageSize: number
  /** The other clauses, each on its line. */
  readonly rest: readonly string[]
}

/** @param canonical clauses as the service prints them: one a line, no line break within */
export function pagingOf(canonical: string): Paging {
  const lines = canonical.split('\n')
  const textOf = (name: string) =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const limit = textOf('limit')
  const sample = textOf('sample')
  const isTraces = /(?:\) traces|shape => 'traces'\))$/.test(textOf('from') ?? '')
  const isRows = textOf('select') !== undefined && textOf('dimensions') === undefined
  return {
    limit: limit === undefined ? undefined : Number(limit),
    offset: Number(textOf('offset') ?? 0),
    cursor: textOf('cursor'),
    isOnce: sample !== undefined && !/ seed /.test(sample),
    pageSize: pageSizes[isTraces ? 'traces' : isRows ? 'rows' : 'groups'],
    rest: lines.filter((line) => !/^(?:limit|offset|cursor): /.test(line)),
  }
}

export interface Reached {
  /** What the pages so far were limited to, all together. */
  readonly count: number
  /** Of the answer before. */
  readonly cursor: string | undefined
}

/** The first page, or the one that follows what has come; undefined when there is none. */
export function nextPage(paging: Paging, reached?: Reached): PagePlan | undefined {
  const { offset, cursor, isOnce, rest, pageSize } = paging
  const left = (paging.limit ?? Number.POSITIVE_INFINITY) - (reached?.count ?? 0)
  const limit = Math.min(pageSize, left)
  if (reached && (limit <= 0 || isOnce)) return undefined
  const clauses = [...rest, `limit: ${limit}`]
  if (reached?.cursor !== undefined) clauses.push(`cursor: ${quoted(reached.cursor)}`)
  else {
    const skipped = offset + (reached?.count ?? 0)
    if (skipped > 0) clauses.push(`offset: ${skipped}`)
    if (cursor !== undefined) clauses.push(`cursor: ${cursor}`)
  }
  return { query: clauses.join('\n'), limit }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
