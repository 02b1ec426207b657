/** Rows of an experiment: one for each example, as the summary of its trace. */
import { fieldOf } from './field-path.ts'
import { at, query, quoted, type Row } from './query.ts'
import { clauseOf, isOfRecords, measured, withClauses } from './query-text.ts'

/** What an order by a column of the table says in a query. */
export function sortOf(column: string, isDescending: boolean): string | undefined {
  const field = sortFields.get(column) ?? scoreField(column)
  return field === undefined ? undefined : `${field} ${isDescending ? 'desc' : 'asc'}`
}

const sortFields: ReadonlyMap<string, string> = new Map([
  ['created', '_pagination_key'],
  ['duration', 'metrics.duration'],
  ['tokens', 'metrics.total_tokens'],
  ['cost', 'metrics.estimated_cost'],
  ['errors', 'metrics.errors'],
])

function scoreField(column: string): string | undefined {
  return column.startsWith('score.') ? fieldOf('scores', column.slice('score.'.length)) : undefined
}

/** Characters of a value that are loaded for a cell. */
const previewLength = 300

export interface PageOptions {
  /** The clause's text; without it the query's own order. */
  readonly sort: string | undefined
  /** From 1. */
  readonly page: number
  readonly pageSize: number
  /** An `_xact_id`: records as they were then. */
  readonly version?: string | undefined
}

export interface RowsPage {
  readonly rows: readonly Row[]
  /** Of all pages; undefined where the query says itself how many rows there are. */
  readonly total: number | undefined
}

/** @param text a query in the form that the service prints; groups come on one page */
export async function pageOf(
  text: string,
  { sort, page, pageSize, version }: PageOptions,
  signal: AbortSignal,
): Promise<RowsPage> {
  if (!isOfRecords(text)) {
    const { data } = await query(text, signal, version)
    return { rows: data, total: undefined }
  }
  const sorted = sort === undefined ? text : withClauses(text, { sort })
  if (clauseOf(text, 'limit') !== undefined) {
    const { data } = await query(withPreviews(sorted), signal, version)
    return { rows: data, total: undefined }
  }
  const offset = page === 1 ? undefined : String((page - 1) * pageSize)
  const limited = withClauses(sorted, { limit: String(pageSize), offset })
  const [{ data }, counted] = await Promise.all([
    query(withPreviews(limited), signal, version),
    query(measured(text, 'count(1) as n'), signal, version),
  ])
  return { rows: data, total: Number(counted.data[0]?.n ?? 0) }
}

function withPreviews(text: string): string {
  return withClauses(text, { preview_length: String(previewLength) })
}

/** The example of another experiment that has the same key, for each of some rows. */
export interface Partner {
  readonly id: string
  /** By name: this experiment's less the other's. */
  readonly scoreChanges: Readonly<Record<string, number>>
}

export interface PartnerOptions {
  readonly experimentId: string
  readonly baseId: string
  /** An expression over an example. */
  readonly key: string
}

export async function partnersOf(
  ids: readonly string[],
  { experimentId, baseId, key }: PartnerOptions,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Partner>> {
  if (ids.length === 0) return new Map()
  const pairs =
    `select: * | from: experiment(${quoted(experimentId)}, ${quoted(baseId)}) summary` +
    ` | comparison_key: ${key}`
  const { data } = await query(
    'select: id, compared.id as partner, score_differences\n' +
      `from: (${pairs})\n` +
      'filter: experiment_id is not null and compared.id is not null' +
      ` and id in [${ids.map(quoted).join(', ')}]`,
    signal,
  )
  return new Map(
    data.map((row) => {
      const differences = (row.score_differences ?? {}) as Readonly<Record<string, number>>
      // The language tells the other's less the first's.
      const changes = Object.entries(differences).map(([name, value]) => [name, -value])
      const scoreChanges = Object.fromEntries(changes) as Readonly<Record<string, number>>
      return [String(row.id), { id: String(row.partner), scoreChanges }]
    }),
  )
}

/** All of an example's row, nothing of it cut. */
export async function exampleOf(
  experimentId: string,
  id: string,
  signal: AbortSignal,
): Promise<Row> {
  const { data } = await query(
    `select: *\nfrom: experiment(${quoted(experimentId)}) summary\n` +
      `filter: id = ${quoted(id)}\npreview_length: -1`,
    signal,
  )
  const [row] = data
  if (!row) throw new Error(`There is no example ${id} any more`)
  return row
}

export interface Field {
  /** As a query writes it. */
  readonly field: string
  readonly distinct: number
}

/** More groups than this are no groups that one could look through. */
const mostGroups = 1000

/** Fields by whose values examples can be grouped: few different ones, and more than one. */
export async function groupFields(experimentId: string, signal: AbortSignal): Promise<Field[]> {
  const { data } = await query(
    `infer: metadata, input, tags\nfrom: experiment(${quoted(experimentId)})\nfilter: is_root`,
    signal,
  )
  return data.flatMap(({ field, distinct }) =>
    typeof distinct === 'number' && distinct > 1 && distinct <= mostGroups
      ? [{ field: String(field), distinct }]
      : [],
  )
}

export interface Group {
  readonly value: unknown
  readonly examples: number
  readonly scores: Readonly<Record<string, number>>
  readonly duration: unknown
  readonly tokens: unknown
  readonly cost: unknown
  readonly errors: number
}

/** Means of the examples with each value of a field. */
export async function groupsOf(
  text: string,
  field: string,
  signal: AbortSignal,
): Promise<readonly Group[]> {
  const { data } = await query(
    measured(
      text,
      'count(1) as examples, avg_entries(scores) as scores, avg(metrics.duration) as duration,' +
        ' sum(metrics.total_tokens) as tokens, sum(metrics.estimated_cost) as cost,' +
        ' sum(metrics.errors) as errors',
      `${field} as group_value`,
      'examples desc',
    ),
    signal,
  )
  return data.map((row) => ({
    value: row.group_value ?? null,
    examples: Number(row.examples),
    scores: (row.scores ?? {}) as Readonly<Record<string, number>>,
    duration: row.duration,
    tokens: row.tokens,
    cost: row.cost,
    errors: Number(row.errors ?? 0),
  }))
}

/** In the order of the alphabet, those that any of the rows has. */
export function scoreNamesIn(rows: readonly Row[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(at(row, 'scores') ?? {})))].sort()
}
