/** Three engines agree: ours, the row oracle and DuckDB, about what the languages share. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Query } from '../../src/parser/ast.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import type { ArbitraryRecord } from '../support/arbitrary-record.ts'
import { typedQueries, typedRecords } from '../support/arbitrary-typed.ts'
import { DuckDB, isoMacro, sqlText } from '../support/duckdb.ts'
import { createTable, toDuckDB, typedColumns } from '../support/duckdb-query.ts'
import { askNamed, expectedLines, type Loaded, load } from '../support/oracle-check.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'
import { firstDifference } from '../support/same-answer.ts'
import { GoldenStore, type StorageState } from '../support/slt-runner.ts'

const queriesPerRun = 25
const runs = Number(process.env.ASSAY_RUNS ?? (isSlow ? 800 : 12))
const timeLimitMs = isSlow ? 900_000 : 20_000
const states: readonly StorageState[] = ['delta', 'tiny', 'segment']

let stores: GoldenStore[] = []
let duckdb: DuckDB

beforeAll(async () => {
  stores = await Promise.all(states.map((state) => GoldenStore.open({ state, workers: 0 })))
  duckdb = await DuckDB.open(':memory:', { threads: '1' })
  await duckdb.run(isoMacro)
})

afterAll(async () => {
  duckdb.close()
  for (const store of stores) await store.close()
})

describe(`the engine, seed ${seed}`, { timeout: isSlow ? 3_600_000 : 60_000 }, () => {
  it('answers as the row oracle and DuckDB do', async () => {
    const batch = fc.array(typedQueries, { minLength: queriesPerRun, maxLength: queriesPerRun })
    let cases = 0
    await fc.assert(
      fc.asyncProperty(fc.array(typedRecords, { maxLength: 30 }), batch, async (given, queries) => {
        const loaded = await load(stores, given)
        await fill(given)
        for (const query of queries) await check(query, loaded)
        cases += queries.length
      }),
      { numRuns: runs, seed, interruptAfterTimeLimit: timeLimitMs },
    )
    console.info(`${cases} queries, each of ${states.length} states, the oracle and DuckDB`)
  })
})

async function check(query: Query, loaded: Loaded): Promise<void> {
  const text = printQuery(query)
  const sql = toDuckDB(query)
  const expected = await duckdb.rows(sql)
  const oracle = expectedLines(text, loaded).map((line) => JSON.parse(line))
  expect(firstDifference(oracle, expected), `oracle\n${text}\n${sql}`).toBeUndefined()
  for (const store of stores) {
    const actual = (await askNamed(store, text, loaded)).map((line) => JSON.parse(line))
    const label = `${store.setup.state}\n${text}\n${sql}`
    expect(firstDifference(actual, expected), label).toBeUndefined()
  }
}

async function fill(given: readonly ArbitraryRecord[]): Promise<void> {
  await duckdb.run(createTable)
  if (given.length === 0) return
  const rows = given.map((record, i) => {
    const named = { ...record, id: `r0${i}` }
    const values = typedColumns.map(({ path, type }) => {
      const value = path.split('.').reduce<unknown>((held, name) => Object(held)[name], named)
      if (value === null || value === undefined) return 'null'
      const literal = typeof value === 'string' ? sqlText(value) : String(value)
      return type === 'timestamp' ? `timestamp ${literal}` : `${literal}::${type}`
    })
    return `(${i}, ${values.join(', ')})`
  })
  await duckdb.run(`insert into records values ${rows.join(', ')}`)
}
