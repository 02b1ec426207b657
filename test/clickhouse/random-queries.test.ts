/** Random queries of random records whose bodies a cluster alone has, or has one half of, against the row oracle. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { printExpression } from '../../src/parser/print.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import { conditions, values } from '../support/arbitrary-expression.ts'
import { queries } from '../support/arbitrary-query.ts'
import { records } from '../support/arbitrary-record.ts'
import { isClusterAsked, useCluster } from '../support/given-cluster.ts'
import { checkAnswer, checkPages, load } from '../support/oracle-check.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'
import { clusterStates, GoldenStore } from '../support/slt-runner.ts'

const clusterNumber = 86
const queriesPerLoad = 100
/** Of each state. */
const cases = Number(process.env.ASSAY_CASES ?? (isSlow ? 20_000 : 200))
const pagedCases = Math.ceil(cases / 4)

/** Of the experiments `e` and `f`. */
const lists = fc.tuple(
  fc.array(records, { minLength: 8, maxLength: 40 }),
  fc.array(records, { maxLength: 12 }),
)

/** A number may stand for the place of a column. */
const sorted = values.filter(({ kind }) => kind === 'path' || kind === 'call' || kind === 'not')

/** Queries that are sorted, without a limit, and how long their pages are. */
const paged = fc
  .tuple(
    fc.array(fc.tuple(sorted, fc.constantFrom('asc', 'desc')), { minLength: 1, maxLength: 2 }),
    fc.option(conditions, { nil: undefined, freq: 1 }),
    fc.integer({ min: 1, max: 7 }),
  )
  .map(([keys, where, rows]) => {
    const condition = where ? ` | filter: ${printExpression(where)}` : ''
    const by = keys.map(([key, way]) => `${printExpression(key)} ${way}`).join(', ')
    return { text: `select: id | from: experiment('e')${condition} | sort: ${by}`, rows }
  })

describe.runIf(isClusterAsked).each(clusterStates)('rows that are %s', (state) => {
  const cluster = useCluster(clusterNumber, 2)
  let store: GoldenStore

  beforeAll(async () => {
    store = await GoldenStore.open({ state, workers: 0, cluster: cluster() })
  })

  afterAll(() => store.close())

  test(`answer ${cases} queries as the row oracle does, seed ${seed}`, async () => {
    for (let at = 0; at < cases; at += queriesPerLoad) {
      const of = { numRuns: 1, seed: seed + at }
      const [given] = fc.sample(lists, of)
      const loaded = await load([store], ...given!)
      const some = fc.sample(queries, { ...of, numRuns: Math.min(queriesPerLoad, cases - at) })
      for (const query of some) await checkAnswer(printQuery(query), loaded)
    }
  }, 7_200_000)

  test(`go on after ${pagedCases} cursors as the row oracle does, seed ${seed}`, async () => {
    for (let at = 0; at < pagedCases; at += queriesPerLoad) {
      const of = { numRuns: 1, seed: seed + at }
      const [given] = fc.sample(lists, of)
      const loaded = await load([store], ...given!)
      const some = fc.sample(paged, { ...of, numRuns: Math.min(queriesPerLoad, pagedCases - at) })
      for (const { text, rows } of some) await checkPages(text, rows, loaded)
    }
  }, 7_200_000)
})
