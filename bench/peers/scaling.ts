/** Time against rows, for a handful of queries: Assay and the typed peers. */

import { formatMs } from '../table.ts'
import { settle } from './ingest.ts'
import type { Turns } from './measure/alternate.ts'
import { prepare } from './prepare.ts'
import { note } from './report/progress.ts'
import type { QueryResult } from './report/query-result.ts'
import { msOf } from './report/ratios.ts'
import { markdownTable } from './report/table.ts'
import { Suite } from './suite.ts'
import type { Layout } from './systems/system.ts'

export interface ScalingOptions {
  readonly rows: readonly number[]
  readonly directory: string
  readonly server: string
  readonly workers: number
  readonly layouts: readonly Layout[]
  readonly turns: Turns
  readonly filter: readonly string[] | undefined
}

export interface ScalingPoint {
  readonly rows: number
  readonly results: readonly QueryResult[]
}

const names = [
  'count, filter on string and double',
  'group by 8 models, 4 aggregates',
  'group by model and environment, six hours',
  'top 10 of 200 k users by spans',
  'latest 100 rows, whole',
  'look-up by id, whole',
  'look-up by trace, whole',
  'search, a rare word in any field',
  'summary of traces, by model of the root',
]

export async function measureScaling(options: ScalingOptions): Promise<ScalingPoint[]> {
  const points: ScalingPoint[] = []
  for (const rows of options.rows) {
    note(`\n${rows} rows`)
    const prepared = await prepare({ ...options, rows, loads: 'once' })
    try {
      const { data, assay } = prepared
      if (assay) await settle(assay)
      const suite = new Suite({ data, turns: options.turns, filter: options.filter ?? names })
      await suite.warm(prepared)
      points.push({ rows, results: suite.results })
    } finally {
      await prepared.close()
    }
  }
  return points
}

/** Milliseconds by rows, a line for each query and system. */
export function scalingTable(points: readonly ScalingPoint[], layouts: readonly Layout[]): string {
  const head = ['query', 'system', ...points.map(({ rows }) => rows.toLocaleString('en'))]
  const first = points[0]?.results ?? []
  const rows = first.flatMap(({ name }, query) =>
    layouts.map((layout, i) => {
      const cells = points.map(({ results }) => msOf(results[query]!, 'warm', layout))
      return [i === 0 ? name : '', layout, ...cells.map((ms) => (ms ? formatMs(ms) : '–'))]
    }),
  )
  return markdownTable([head, ...rows])
}
