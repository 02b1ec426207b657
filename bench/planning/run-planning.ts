/** How long a query takes from its text to its plan, once the code is warm. */
import { Bench } from 'tinybench'
import type { BindContext } from '../../src/binder/bind-context.ts'
import { bindQuery } from '../../src/binder/bind-query.ts'
import { KnownFields } from '../../src/binder/known-fields.ts'
import type { CatalogObject, CatalogView } from '../../src/catalog/catalog.ts'
import { parseQuery } from '../../src/parser/parse.ts'
import { optimize } from '../../src/planner/optimize.ts'
import { planLogical } from '../../src/planner/plan-logical.ts'
import { planPhysical } from '../../src/planner/plan-physical.ts'
import { formatTable } from '../table.ts'

const queries: readonly (readonly [name: string, text: string])[] = [
  [
    'rows, clauses',
    "select: id, input, metadata.model, scores.Factuality | from: project_logs('p') | filter: created > now() - interval 7 day and scores.Factuality < 0.5 and metadata.env = 'prod' | sort: created desc | limit: 100",
  ],
  [
    'groups, SQL',
    "SELECT metadata.model AS model, day(created) AS day, count(*) AS n, avg(scores.Factuality) AS score, percentile(metrics.tokens, 0.95) AS p95 FROM project_logs('p') WHERE created > now() - interval 30 day AND span_attributes.type = 'llm' GROUP BY 1, 2 HAVING count(*) > 10 ORDER BY n DESC LIMIT 50",
  ],
  [
    'summary',
    "select: * | from: project_logs('p') summary | filter: any_span(error is not null) and tags includes 'prod' | sort: _pagination_key desc | limit: 50",
  ],
  [
    'nested, unpivot',
    "WITH scores AS (SELECT metadata.model AS model, name, value FROM project_logs('p') UNPIVOT (value FOR name IN (scores))) SELECT model, name, avg(value) AS mean FROM scores GROUP BY model, name ORDER BY mean",
  ],
  ['filter of 1,000 ids', `select: * | from: project_logs('p') | filter: id in [${ids(1000)}]`],
]

function ids(count: number): string {
  return Array.from({ length: count }, (_, i) => `'span-${i}'`).join(', ')
}

const object: CatalogObject = {
  number: 1,
  type: 'project_logs',
  id: 'p',
  projectId: 'p',
  organizationId: 'o',
  name: 'p',
}

/** Everything is readable, and named `p`. */
const view: CatalogView = {
  readable: () => object,
  writable: () => object,
  readableByName: () => [object],
  readableOfType: () => [object],
  readableInProject: () => [object],
  readableProject: () => undefined,
  organization: () => ({ id: 'o', name: 'o' }),
}

export interface PlanningResult {
  readonly query: string
  /** Medians, in microseconds. */
  readonly parse: number
  readonly bind: number
  readonly plan: number
  readonly all: number
}

export async function runPlanning(): Promise<PlanningResult[]> {
  const paths = Array.from({ length: 500 }, (_, i) => ['metadata', `field_${i}`])
  const known = new KnownFields(paths)
  const context: BindContext = {
    now: Date.now(),
    tzOffset: 0,
    randomSeed: 1,
    view,
    knownFields: () => known,
  }
  const rules = { now: context.now, tzOffset: 0, columnstore: true }
  const results: PlanningResult[] = []
  for (const [name, text] of queries) {
    const parsed = parseQuery(text)
    const bound = bindQuery(parsed, context)
    const bench = new Bench({ time: 500, warmupTime: 300 })
    bench.add('parse', () => void parseQuery(text))
    bench.add('bind', () => void bindQuery(parsed, context))
    bench.add('plan', () => void planPhysical(optimize(planLogical(bound), rules)))
    bench.add('all', () => {
      planPhysical(optimize(planLogical(bindQuery(parseQuery(text), context)), rules))
    })
    await bench.run()
    const [parse, bind, plan, all] = bench.tasks.map(medianMicroseconds)
    results.push({ query: name, parse: parse!, bind: bind!, plan: plan!, all: all! })
  }
  const rows = results.map(({ query, parse, bind, plan, all }) => [
    query,
    ...[parse, bind, plan, all].map((time) => time.toFixed(1)),
  ])
  console.log(formatTable([['query', 'parse µs', 'bind µs', 'plan µs', 'all µs'], ...rows]))
  return results
}

function medianMicroseconds({ result }: Bench['tasks'][number]): number {
  if (result.state !== 'completed') throw new Error(`the benchmark ended as ${result.state}`)
  return result.latency.p50 * 1000
}
