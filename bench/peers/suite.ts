/** Runs the queries over the systems: answers first, then times. */
import type { DataFile } from './generator/data-file.ts'
import { alternate, type Timed, type Turns } from './measure/alternate.ts'
import { differenceOf } from './measure/same-rows.ts'
import { allQueries, queryText } from './queries/all-queries.ts'
import type { PeerQuery } from './queries/peer-query.ts'
import { note, showProgress } from './report/progress.ts'
import { resultLine } from './report/table.ts'
import type { Layout, Row, System } from './systems/system.ts'

export interface QueryResult {
  readonly name: string
  readonly rows: number
  readonly times: readonly Timed[]
  /** By system, where its answer is not that of the one that all are compared with. */
  readonly differences: Readonly<Partial<Record<Layout, string>>>
}

export interface SuiteOptions {
  readonly systems: readonly System[]
  readonly projectId: string
  readonly data: DataFile
  readonly turns: Turns
  /** Names of queries, or parts of them; all if not given. */
  readonly filter: readonly string[] | undefined
}

export function selectQueries({
  data,
  filter,
}: Pick<SuiteOptions, 'data' | 'filter'>): PeerQuery[] {
  const isWanted = ({ name }: PeerQuery) =>
    filter === undefined || filter.some((part) => name.includes(part))
  return allQueries(data).filter(isWanted)
}

export async function runSuite(options: SuiteOptions): Promise<QueryResult[]> {
  const { systems, projectId, turns } = options
  const results: QueryResult[] = []
  for (const query of selectQueries(options)) {
    showProgress(query.name)
    const texts = systems.map(({ layout }) => queryText(query, layout, projectId))
    const { rows, firstMs, differences } = await compare(query, systems, texts)
    for (const [layout, difference] of Object.entries(differences)) {
      note(`${query.name}: ${layout}: ${difference}`)
    }
    const times = await alternate(systems, texts, firstMs, turns)
    const result = { name: query.name, rows, times, differences }
    results.push(result)
    note(resultLine(result))
  }
  return results
}

/** In this order the first system that is there gives the expected answer. */
const references: readonly Layout[] = [
  'duckdb',
  'clickhouse',
  'duckdb-json',
  'clickhouse-json',
  'assay',
]

interface Compared {
  readonly rows: number
  /** What the query took in each system, asked for the first time. */
  readonly firstMs: readonly number[]
  readonly differences: Partial<Record<Layout, string>>
}

async function compare(
  query: PeerQuery,
  systems: readonly System[],
  texts: readonly string[],
): Promise<Compared> {
  const answers = new Map<Layout, Row[]>()
  const firstMs: number[] = []
  const differences: Partial<Record<Layout, string>> = {}
  for (const [i, system] of systems.entries()) {
    try {
      const { ms, rows } = await system.run(texts[i]!)
      firstMs.push(ms)
      answers.set(system.layout, rows())
    } catch (error) {
      throw new Error(`${query.name}: ${system.layout}: ${String(error)}\n${texts[i]}`)
    }
  }
  const reference = references.find((layout) => answers.has(layout))!
  const expected = answers.get(reference)!
  for (const [layout, answer] of answers) {
    const difference = differenceOf(query, answer, expected)
    if (difference !== undefined) differences[layout] = difference
  }
  return { rows: expected.length, firstMs, differences }
}
