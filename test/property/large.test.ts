/**
 * The engine answers as the row oracle does over enough rows for several granules, dictionaries,
 * threads and partial results; few queries, as the oracle is slow.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Query } from '../../src/parser/ast.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import type { Value } from '../../src/type/value.ts'
import { spanQueries, summaryQueries, traceQueries } from '../support/arbitrary-query.ts'
import { type ArbitraryRecord, records } from '../support/arbitrary-record.ts'
import { checkAnswer, type Loaded, load } from '../support/oracle-check.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'
import { GoldenStore } from '../support/slt-runner.ts'

const rowCount = isSlow ? 60_000 : 9_000
const queryCount = isSlow ? 200 : 6

/** Over fields whose values rise with the rows, repeat, or are of many kinds. */
const fixedQueries = [
  "measures: count(1) as n, sum(metrics.n) as s, min(metrics.n) as a, max(metrics.n) as b | from: experiment('e') | filter: metrics.n between 100 and 1000.5",
  "measures: count(1) as n, sum(metrics.n) as s, avg(metrics.n) as a | from: experiment('e') | filter: metrics.n between 100.3 and 1100",
  "measures: count(1) as n | from: experiment('e') | filter: metrics.n > 100.3",
  "dimensions: metadata.b | measures: count(1) as n, avg(metrics.n) as a, percentile(metrics.n, 0.9) as p | from: experiment('e') | sort: b",
  "dimensions: metadata.u | measures: count(1) as n, max(metrics.n) as m | from: experiment('e') | sort: m desc | limit: 10",
  "select: id, metrics.n | from: experiment('e') | sort: metrics.n desc | limit: 7 | offset: 5",
  "select: id, metadata.b | from: experiment('e') | sort: metadata.b, metrics.n desc | limit: 20",
  "select: id | from: experiment('e') | filter: metadata.u like 'u12%' and metrics.n > 500",
  "measures: count_distinct(metadata.u) as u, count_distinct(metadata.a) as a, count(input) as i | from: experiment('e')",
  "dimensions: input, output | measures: count(1) as n | from: experiment('e') | sort: n desc, input, output | limit: 30",
  "select: id | from: experiment('e') | filter: metrics.n = 300 or metadata.u = 'u7' | limit: 9",
]

describe(`large data, seed ${seed}`, { timeout: isSlow ? 3_600_000 : 60_000 }, () => {
  let stores: GoldenStore[] = []
  let loaded: Loaded

  beforeAll(async () => {
    stores = await Promise.all([
      GoldenStore.open({ state: 'segment', workers: 0 }),
      GoldenStore.open({ state: 'delta', workers: 2 }),
      GoldenStore.open({ state: 'segment', workers: 2 }),
    ])
    const list = manyRecords()
    const middle = Math.floor((list.length * 2) / 3)
    loaded = await load(stores, list.slice(0, middle), list.slice(middle))
  })

  afterAll(async () => {
    for (const store of stores) await store.close()
  })

  it.each(fixedQueries)('%s', (query) => checkAnswer(query, loaded))

  const random = fc.sample(fc.oneof(spanQueries, traceQueries, summaryQueries), {
    seed,
    numRuns: queryCount,
  })
  it.each(random.map(oneLine))('%s', (query) => checkAnswer(query, loaded))
})

/** Most of the time goes into comparing long answers, which says little. */
function oneLine(query: Query): string {
  const limit = query.limit ?? { value: 40, span: query.span }
  return printQuery({ ...query, limit }).replaceAll('\n', ' | ')
}

function manyRecords(): ArbitraryRecord[] {
  const templates = fc.sample(records, { seed, numRuns: 400 })
  return Array.from({ length: rowCount }, (_, i) => {
    const template = templates[(i * 7919) % templates.length]!
    const metadata = template.metadata as { readonly [key: string]: Value } | undefined
    return {
      ...template,
      // Traces of a few spans each, which the oracle goes through for every span.
      root_span_id: `t${Math.floor(i / 5)}`,
      metrics: { n: i / 8 },
      metadata: { ...metadata, b: `b${i % 7}`, u: `u${(i * 31) % 1000}` },
    }
  })
}
