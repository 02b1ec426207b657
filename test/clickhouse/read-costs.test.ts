/**
 * Costs that the cluster computes are those that Assay does, to the last bit, whatever the prices are. No more rows come back for
 * them than those in doubt.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { costComponents } from '../../src/function/cost.ts'
import { defaultPrices, type PriceTable, readPriceTable } from '../../src/function/prices.ts'
import type { ArbitraryRecord } from '../support/arbitrary-record.ts'
import { isClusterAsked, useCluster } from '../support/given-cluster.ts'
import { askPage, comparable, type Loaded, load, withIds } from '../support/oracle-check.ts'
import { RandomChoice } from '../support/random-choice.ts'
import { randomSeed as seed } from '../support/random-seed.ts'
import { GoldenStore } from '../support/slt-runner.ts'

const clusterNumber = 85

type Fields = {
  readonly span_attributes?: { readonly purpose?: unknown }
  readonly metadata?: { readonly model?: unknown }
  readonly metrics?: Readonly<Record<string, unknown>>
}

const models = [
  ...['gpt-4o', ' GPT-4o ', 'openai/gpt-4o', 'gpt-4o-2024-08-06', 'gpt-4o-2024-05-13'],
  ...['gpt-4o-mini-2024-07-18', 'gpt-4-0613', 'gpt-4-1106-preview', 'gpt-4-turbo-preview'],
  ...['claude-sonnet-4-20250514', 'claude-sonnet-4-5-20250929', 'anthropic/claude-sonnet-4.5'],
  ...['us.anthropic.claude-3-5-sonnet-20241022-v2:0', 'claude-3-5-sonnet-v2@20241022'],
  ...['claude-3.5-sonnet:beta', 'claude-3-5-sonnet-latest', 'claude-3-5-sonnet-v12:345'],
  ...['models/gemini-2.5-pro-preview-05-06', 'accounts/fireworks/models/llama-3.3-70b-instruct'],
  ...['', ' ', 'gpt', 'gpt-4o-audio', 'gpt-9', 'claude-sonnet-4-7', 'my-gpt-4o', 'constructor'],
  ...['/gpt-4o', 'gpt-4o/', 'x.gpt-4o', 'x.y.gpt-4o', 'x.9.gpt-4o', 'X.Y/A.B.O1', '.o1', 'o1.'],
  ...['o1-', 'o1-1', 'o1-11', 'o1-v', 'o1-v1', 'o1-v1:', 'o1-v1:2', 'o1-v1:2-hf', 'o1--hf'],
  ...['o1:hf@fp8-it', "it's \\ {o1} `o1`", 'a.b/o1-1.11.111', '1.2.3.4', 'm.1.2.3-4.5'],
  ...['own(model)+', 'own.model', 'x.own.model', 'owns', 'own', 'own-turbo', 'own-turbo-11'],
  ...['OWN-12-Turbo', 'own-free', 'own-39-b39', 'own-39.b39-hf', 'own-3.9-b39'],
  ...['us/own-399-b399-2025', 'own-4-b4.4'],
]

/** Of which only Assay knows what they are without what surrounds them, or in lower case. */
const doubtful = [
  '\to1',
  'o1\n',
  '\u00a0o1',
  '\u212ao1',
  'modèle/o1',
  'o1\nx',
  '模型',
  'own-\u212a',
]

const otherModels = [undefined, null, 4, true, ['gpt-4o'], { name: 'gpt-4o' }]

const counts = [
  ...[undefined, undefined, undefined, null, 0, -0, 1, 3, 17, 1042, 999_999, 2.5, 0.1, 1e-7, -5],
  ...[true, false, '12', [4], { a: 1 }],
]

/** What no double is, and what is so great that sums of costs may be beyond all doubles. */
const doubtfulCounts = ['12345678901234567890', '1e200', '9007199254740993']

const countNames = [
  ...['prompt_tokens', 'completion_tokens', 'prompt_cached_tokens'],
  ...['prompt_cache_creation_tokens', 'prompt_cache_creation_5m_tokens'],
  'prompt_cache_creation_1h_tokens',
]

/** Without what is undefined. */
function given(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]: [string, unknown]) => {
      if (value === undefined) return []
      const isFields = typeof value === 'object' && value !== null && !Array.isArray(value)
      return [[name, isFields ? given(value) : value]]
    }),
  )
}

function randomRecord(choice: RandomChoice, model: unknown): Fields {
  const split = choice.below(3) === 0
  const [in5m, in1h] = [choice.below(2000), choice.below(2000)]
  const metrics = {
    ...Object.fromEntries(countNames.map((name) => [name, choice.pick(counts)])),
    ...(split && {
      prompt_cache_creation_tokens: in5m + in1h,
      prompt_cache_creation_5m_tokens: in5m,
      prompt_cache_creation_1h_tokens: in1h,
    }),
    ...(choice.below(6) === 0 && { estimated_cost: choice.pick(counts) }),
  }
  const purpose = choice.pick([undefined, undefined, undefined, null, 'scorer', 'other', 1])
  return { span_attributes: { purpose }, metadata: { model }, metrics }
}

const full = { prompt_tokens: 1042, completion_tokens: 17, prompt_cached_tokens: 900 }

const known: readonly Fields[] = [
  ...models.map((model) => ({ metadata: { model }, metrics: full })),
  ...otherModels.map((model) => ({ metadata: { model }, metrics: full })),
  // Recorded, so that their models do not matter.
  ...doubtful.map((model) => ({ metadata: { model }, metrics: { ...full, estimated_cost: 0.3 } })),
  {},
  { metadata: { model: 'gpt-4o' } },
  { metadata: { model: 'gpt-4o' }, metrics: {} },
]

const inDoubt: readonly Fields[] = [
  ...doubtful.map((model) => ({ metadata: { model }, metrics: full })),
  ...doubtfulCounts.map((count) => ({
    metadata: { model: 'gpt-4o' },
    // As it is written.
    metrics: { prompt_tokens: Number(count) > 1e100 ? Number(count) : BigInt(count) },
  })),
]

const ownPrices = readPriceTable(
  JSON.stringify({
    ...Object.fromEntries(
      Array.from({ length: 400 }, (_, i) => [`own-${i}-b${i}`, { input: i, output: 1 / (i + 1) }]),
    ),
    'gpt-4o': null,
    'gpt-4': { input: 0.3, output: 1 / 3 },
    own: { input: 0, output: 0 },
    'own-turbo': { input: 1e-7, output: 123456.789, cacheRead: 0.1, cacheWrite: 3 },
    'own-turbo-11': { input: 1, output: 2, cacheWrite5m: 3 },
    'OWN-12.Turbo': { input: 1.1, output: 2.2, cacheWrite5m: 3.3, cacheWrite1h: 5.5 },
    'own-12-turbo': { input: 7.7, output: 0.7, cacheWrite5m: 0.3, cacheWrite1h: 0.6 },
    'own(model)+': { input: 4, output: 4 },
    'own.model': { input: 5, output: 6 },
    "it's \\ {o1} `o1`": { input: 8, output: 9 },
    模型: { input: 1, output: 1 },
    ' ': { input: 1, output: 1 },
    'o1\nx': { input: 1, output: 1 },
  }),
  'prices.json',
)

const noPrices: PriceTable = {}

const manyPrices: PriceTable = {
  ...defaultPrices,
  ...Object.fromEntries(
    Array.from({ length: 6000 }, (_, i) => {
      return [`vendor${i % 37}-model-${i}-large`, { input: i, output: 2 * i }]
    }),
  ),
}

const parts = costComponents.map((name) => `estimated_cost_component('${name}')`)

const queries = [
  `dimensions: id, estimated_cost() as cost | measures: count(1) as n`,
  ...parts.map((part) => `dimensions: id | measures: max(${part}) as part`),
  'dimensions: metadata.model as model | measures: sum(estimated_cost()) as total, avg(estimated_cost()) as mean, count(estimated_cost()) as n',
  `measures: ${parts.map((part, i) => `sum(${part}) as s${i}`).join(', ')}`,
  'dimensions: estimated_cost() as cost | measures: count(1) as n, min(id) as id',
  'measures: max(estimated_cost()) as most, min(estimated_cost()) as least, percentile(estimated_cost(), 0.9) as p90, count(distinct estimated_cost()) as n',
  'measures: count_if(estimated_cost() > 0.001) as n, count_if(estimated_cost() is null) as nulls, sum(estimated_cost()) filter (where estimated_cost() < 0.1) as s',
  "dimensions: coalesce(estimated_cost(), 0) > 0 as c | measures: count(1) as n | filter: estimated_cost() > 0 or span_attributes.purpose = 'scorer'",
  'unpivot: metrics as (name, value) | dimensions: name | measures: sum(estimated_cost()) as s',
]

const rowQueries = [
  'select: id, estimated_cost() as cost | sort: estimated_cost() desc | limit: 20',
  'select: id, estimated_cost() as cost | sort: estimated_cost() asc | limit: 20',
  'select: id, estimated_cost() as cost | filter: estimated_cost() > 0.001 and estimated_cost() < 0.01',
  'select: id | filter: estimated_cost() is null',
  'select: id | filter: estimated_cost() = 0 | limit: 7',
  'select: id, estimated_cost_breakdown() as parts',
]

const from = (query: string): string => `${query} | from: experiment('e')`

describe.runIf(isClusterAsked).each([
  ['the built-in prices', undefined, 'told'],
  ['prices of an operator', ownPrices, 'told'],
  ['no prices', noPrices, 'told'],
  ['more prices than are told', manyPrices, 'untold'],
] as const)(`by %s, seed ${seed}`, (_, prices, told) => {
  const cluster = useCluster(clusterNumber, 2)
  let here: GoldenStore
  let there: GoldenStore
  let loaded: Loaded

  beforeAll(async () => {
    here = await GoldenStore.open({ state: 'delta', workers: 0, prices })
    there = await GoldenStore.open({ state: 'exported', workers: 0, cluster: cluster(), prices })
    const choice = new RandomChoice(seed)
    const random = Array.from({ length: 300 }, () => randomRecord(choice, choice.pick(models)))
    const records = [...known, ...random, ...inDoubt].map(given)
    loaded = await load([here, there], records as ArbitraryRecord[])
  }, 120_000)

  afterAll(async () => {
    await here.close()
    await there.close()
  })

  /** Also how many rows have come back, and what was left to Assay. */
  async function asked(store: GoldenStore, query: string) {
    let rows = 0
    const left: unknown[] = []
    const request = { query: withIds(from(query), loaded.ids.get(store)!), view: store.gate }
    const result = await store.engine.query({
      ...request,
      separator: '\n',
      auditLog: true,
      onAuditEvent: ({ event, plan, left: leaves, rows: count }) => {
        // Not of the traces that repeat usage.
        if (plan !== 'query') return
        if (event === 'cluster') rows += Number(count)
        if (event.startsWith('cluster') && leaves) left.push(leaves)
      },
    })
    const lines: string[] = []
    for await (const { bytes } of result.rows) {
      if (bytes.length > 0) lines.push(...Buffer.from(bytes).toString().split('\n'))
    }
    return { lines: lines.map(comparable), rows, left }
  }

  test.each(queries)('%s', async (query) => {
    const expected = await asked(here, query)
    const { lines, rows, left } = await asked(there, query)
    expect(lines.toSorted()).toEqual(expected.lines.toSorted())
    if (told === 'untold') return
    expect(left).toEqual([])
    expect(rows).toBeLessThanOrEqual(inDoubt.length + doubtful.length + 1)
  })

  test.each(rowQueries)('%s', async (query) => {
    const expected = await asked(here, query)
    const { lines, left } = await asked(there, query)
    expect(lines).toEqual(expected.lines)
    if (told === 'told') expect(left).toEqual([])
  })

  test('goes on after cursors', async () => {
    const query = from('select: id | sort: estimated_cost() desc')
    const pagesOf = async (store: GoldenStore): Promise<string[]> => {
      const lines: string[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const place: string = cursor === '' ? '' : ` | cursor: '${cursor}'`
        const text = withIds(`${query} | limit: 60${place}`, loaded.ids.get(store)!)
        const page = await askPage(store, text)
        lines.push(...page.lines)
        cursor = page.cursor
      }
      return lines
    }
    expect(await pagesOf(there)).toEqual(await pagesOf(here))
  })
})
