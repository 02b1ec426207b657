/** Spans that repeat the usage of others are found of traces that lie on a cluster, here, and on both. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { repeatedUsage } from '../../src/function/repeated-usage.ts'
import type { ArbitraryRecord } from '../support/arbitrary-record.ts'
import { isClusterAsked, useCluster } from '../support/given-cluster.ts'
import { ask, insert, newExperiment } from '../support/oracle-check.ts'
import { RandomChoice } from '../support/random-choice.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'
import { clusterStates, GoldenStore } from '../support/slt-runner.ts'

const clusterNumber = 87
const rounds = isSlow ? 100 : 10
const tracesPerRound = 30

type Span = {
  readonly id: string
  readonly span_id: string
  readonly root_span_id: string
  readonly span_parents: readonly string[]
  readonly span_attributes: { readonly type: string; readonly purpose?: string }
  readonly metrics: { readonly completion_tokens?: number; readonly estimated_cost?: number }
}

/** Few names, so that spans share theirs, go round in circles, and have parents that are not there. */
function randomTrace(trace: string, choice: RandomChoice): Span[] {
  const count = 1 + choice.below(5)
  const spans = choice.below(3) === 0 ? count - 1 || 1 : count
  return Array.from({ length: count }, (_, i) => ({
    id: `${trace} ${i}`,
    span_id: `${trace} span "${i % spans}"`,
    root_span_id: trace,
    span_parents: Array.from({ length: choice.below(3) }, () => {
      return `${trace} span "${choice.below(count + 1)}"`
    }),
    span_attributes: {
      type: choice.pick(['llm', 'task', 'tool']),
      ...(choice.below(4) === 0 && { purpose: 'scorer' }),
    },
    metrics: choice.pick([{}, { completion_tokens: 3 }, { estimated_cost: 0.5 }]),
  }))
}

function idsOfRepeating(spans: readonly Span[]): string[] {
  const traces = [...new Set(spans.map(({ root_span_id }) => root_span_id))]
  return traces
    .map((trace) => spans.filter(({ root_span_id }) => root_span_id === trace))
    .flatMap((trace) => {
      const numbers = new Map(trace.map(({ span_id }, i) => [span_id, i]))
      const known = trace.map(({ span_id, span_parents, span_attributes, metrics }) => ({
        span: numbers.get(span_id)!,
        parents: span_parents.flatMap((parent) => numbers.get(parent) ?? []),
        reports: Object.keys(metrics).length > 0,
        isCall: span_attributes.type === 'llm',
        isTool: span_attributes.type === 'tool',
        isScorer: span_attributes.purpose === 'scorer',
      }))
      return repeatedUsage(known).map((place) => trace[place]!.id)
    })
    .sort()
}

function shuffled<Item>(items: readonly Item[], choice: RandomChoice): Item[] {
  const left = [...items]
  return items.map(() => left.splice(choice.below(left.length), 1)[0]!)
}

describe.runIf(isClusterAsked).each(clusterStates)('rows that are %s', (state) => {
  const cluster = useCluster(clusterNumber, 2)
  let store: GoldenStore

  beforeAll(async () => {
    store = await GoldenStore.open({ state, workers: 0, cluster: cluster() })
  })

  afterAll(() => store.close())

  const repeatingOf = async (experiment: string): Promise<string[]> => {
    const rows = await ask(
      store,
      `select: id | from: experiment('${experiment}') | filter: repeats_usage() | sort: id`,
    )
    return rows.map((row) => (JSON.parse(row) as { readonly id: string }).id)
  }

  test(`have what the spans of all traces say, seed ${seed}`, async () => {
    for (let round = 0; round < rounds; round++) {
      const choice = new RandomChoice(seed + round)
      const experiment = await newExperiment(store)
      const write = (spans: readonly Span[]) => {
        const records = spans as readonly ArbitraryRecord[]
        return insert(
          store,
          experiment,
          records.map((record) => ({ record, object: 'e' })),
        )
      }
      const traces = Array.from({ length: tracesPerRound }, (_, i) => `t${i}`)
      const spans = shuffled(
        traces.flatMap((trace) => randomTrace(trace, choice)),
        choice,
      )
      const early = spans.slice(0, choice.below(spans.length))
      const place = `${state}, seed ${seed + round}`
      if (early.length > 0) {
        await write(early)
        await store.settle()
        expect(await repeatingOf(experiment), place).toEqual(idsOfRepeating(early))
      }
      // At first the cluster has none of them, or some.
      await write(spans.slice(early.length))
      expect(await repeatingOf(experiment), place).toEqual(idsOfRepeating(spans))
      const changed = spans.map((span) => {
        return choice.below(10) === 0 ? { ...span, metrics: { estimated_cost: 2 } } : span
      })
      await write(changed.filter((span, i) => span !== spans[i]))
      expect(await repeatingOf(experiment), place).toEqual(idsOfRepeating(changed))
      await store.settle()
      expect(await repeatingOf(experiment), place).toEqual(idsOfRepeating(changed))
    }
  }, 600_000)
})
