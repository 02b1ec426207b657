/** What clients ask for, in both systems. */
import type { LoadedData } from './load-data.ts'

export interface Target {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Workload {
  readonly name: string
  readonly connections: number
  /** Clients that scan all rows meanwhile, each its next scan as soon as the last has ended. */
  readonly scanners: number
  readonly goal: { readonly requestsPerSecond: number; readonly p99Ms: number }
  /** Bodies of requests. */
  readonly assay: readonly string[]
  readonly duckdb: readonly string[]
}

export interface Scan {
  readonly assay: string
  readonly duckdb: string
}

/** So many that a text does not come again while its plan or its answer is kept. */
const differentFilters = 50_000

export function workloads(data: LoadedData): Workload[] {
  const { largeExperiment, ids, smallExperiment } = data
  const lookUps = {
    assay: ids.map((id) =>
      btql(`select: * | from: experiment('${largeExperiment}') | filter: id = '${id}'`),
    ),
    duckdb: ids.map((id) => sql('select body from spans where id = $1', [id])),
  }
  const none = Number.POSITIVE_INFINITY
  return [
    {
      name: 'look-ups by id',
      connections: 256,
      scanners: 0,
      goal: { requestsPerSecond: 15_000, p99Ms: 60 },
      ...lookUps,
    },
    {
      name: `aggregates over 10,000 records`,
      connections: 64,
      scanners: 0,
      goal: { requestsPerSecond: 3000, p99Ms: none },
      assay: [
        btql(
          'dimensions: metadata.model as model | measures: count(1) as n, avg(metrics.tokens) as tokens | ' +
            `from: experiment('${smallExperiment}')`,
        ),
      ],
      duckdb: [
        sql(
          'select model, count(*) as n, avg(tokens) as tokens from spans where experiment = $1 group by model',
          ['small'],
        ),
      ],
    },
    {
      // No answer is kept: none is asked for twice in a short time.
      name: `aggregates, each with another filter`,
      connections: 64,
      scanners: 0,
      goal: { requestsPerSecond: 3000, p99Ms: none },
      assay: Array.from({ length: differentFilters }, (_, i) =>
        btql(
          'dimensions: metadata.model as model | measures: count(1) as n, avg(metrics.tokens) as tokens | ' +
            `from: experiment('${smallExperiment}') | filter: metrics.tokens != ${i}.5`,
        ),
      ),
      duckdb: Array.from({ length: differentFilters }, (_, i) =>
        sql(
          'select model, count(*) as n, avg(tokens) as tokens from spans ' +
            'where experiment = $1 and tokens != cast($2 as double) group by model',
          ['small', `${i}.5`],
        ),
      ),
    },
    {
      name: 'look-ups while 8 clients scan',
      connections: 64,
      scanners: 8,
      goal: { requestsPerSecond: 0, p99Ms: 100 },
      ...lookUps,
    },
  ]
}

/** The `number`-th, which reads every row of two columns. No two are the same, as the answer of one would be kept. */
export function scanOf({ largeExperiment }: LoadedData, number: number): Scan {
  return {
    assay: btql(
      'dimensions: metadata.user_id as user | measures: count(1) as n, avg(metrics.tokens) as tokens | ' +
        `from: experiment('${largeExperiment}') | filter: metrics.tokens != ${number}.5 | ` +
        'sort: n desc | limit: 10',
    ),
    duckdb: sql(
      'select user_id, count(*) as n, avg(tokens) as tokens from spans where experiment = $1 ' +
        'and tokens != cast($2 as double) group by user_id order by n desc limit 10',
      ['large', `${number}.5`],
    ),
  }
}

function btql(query: string): string {
  return JSON.stringify({ query })
}

function sql(text: string, values: readonly string[]): string {
  return JSON.stringify({ sql: text, values })
}
