/**
 * The engine answers as the row oracle does, whatever the records, the query and the place where the
 * records are; and filters keep the laws that follow from three-valued logic.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { printExpression } from '../../src/parser/print.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import { conditions } from '../support/arbitrary-expression.ts'
import { queries } from '../support/arbitrary-query.ts'
import { records } from '../support/arbitrary-record.ts'
import { ask, checkAnswer, load } from '../support/oracle-check.ts'
import type { Plain } from '../support/oracle-value.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'
import { GoldenStore, type StorageState } from '../support/slt-runner.ts'

const runs = isSlow ? 1000 : 12
const timeLimitMs = isSlow ? 600_000 : 20_000
const queriesPerRun = 12
const states: readonly StorageState[] = ['delta', 'tiny', 'segment']

let stores: GoldenStore[] = []

beforeAll(async () => {
  stores = await Promise.all(states.map((state) => GoldenStore.open({ state, workers: 0 })))
})

afterAll(async () => {
  for (const store of stores) await store.close()
})

/** Of the experiments `e` and `f`. */
const lists = fc.tuple(fc.array(records, { maxLength: 16 }), fc.array(records, { maxLength: 8 }))

describe(`the engine, seed ${seed}`, { timeout: isSlow ? 3_600_000 : 60_000 }, () => {
  it('answers as the row oracle does', async () => {
    const batch = fc.array(queries, { minLength: queriesPerRun, maxLength: queriesPerRun })
    await fc.assert(
      fc.asyncProperty(lists, batch, async (given, queries) => {
        const loaded = await load(stores, ...given)
        for (const query of queries) await checkAnswer(printQuery(query), loaded)
      }),
      { numRuns: runs, seed, interruptAfterTimeLimit: timeLimitMs },
    )
  })

  it('splits rows into those where a condition is true, false and unknown', async () => {
    const batch = fc.array(conditions, { minLength: queriesPerRun, maxLength: queriesPerRun })
    await fc.assert(
      fc.asyncProperty(fc.array(records, { maxLength: 20 }), batch, async (given, tests) => {
        const loaded = await load(stores, given)
        for (const test of tests) {
          const text = printExpression(test)
          for (const [store, [id]] of loaded.ids) await checkPartition(store, id!, text)
        }
      }),
      { numRuns: runs, seed, interruptAfterTimeLimit: timeLimitMs },
    )
  })
})

/** What the filter keeps is asked of pruned scans; the column next to the id, of all rows. */
async function checkPartition(store: GoldenStore, id: string, test: string): Promise<void> {
  const from = `from: experiment('${id}')`
  const all = await ask(store, `select: id, (${test}) as truth | ${from}`)
  const idsWhere = (truth: Plain) =>
    all
      .map((line) => JSON.parse(line))
      .filter((row) => row.truth === truth)
      .map((row) => row.id)
  const kept = async (filter: string) =>
    (await ask(store, `select: id | ${from} | filter: ${filter}`)).map(
      (line) => JSON.parse(line).id,
    )
  const label = `${store.setup.state}\n${test}`
  const [isTrue, isFalse, isUnknown] = [
    await kept(test),
    await kept(`not (${test})`),
    await kept(`(not (${test})) is null`),
  ]
  expect(isTrue, label).toEqual(idsWhere(true))
  expect(isFalse, `not: ${label}`).toEqual(idsWhere(false))
  expect(isTrue.length + isFalse.length + isUnknown.length, label).toBe(all.length)
}
