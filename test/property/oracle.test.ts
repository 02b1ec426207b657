/**
 * The engine answers as the row oracle does, whatever the records, the query and the place where the
 * records are; and filters keep the laws that follow from three-valued logic.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseQuery } from '../../src/parser/parse.ts'
import { printExpression, printQuery } from '../../src/parser/print.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import { recordColumns } from '../../src/type/record.ts'
import { conditions, queriesOf } from '../support/arbitrary-query.ts'
import { type ArbitraryRecord, records } from '../support/arbitrary-record.ts'
import { json, type Plain } from '../support/oracle-value.ts'
import { answer, type OracleRow } from '../support/row-oracle.ts'
import { GoldenStore, type StorageState } from '../support/slt-runner.ts'

const isSlow = process.env.ASSAY_SLOW === '1'
const runs = isSlow ? 1000 : 25
const queriesPerRun = 12
const states: readonly StorageState[] = ['delta', 'tiny', 'segment']

/** Records that live in one experiment of every store. */
interface Loaded {
  readonly ids: ReadonlyMap<GoldenStore, string>
  readonly rows: readonly OracleRow[]
}

let stores: GoldenStore[] = []
let experiments = 0

beforeAll(async () => {
  stores = await Promise.all(states.map((state) => GoldenStore.open({ state, workers: 0 })))
})

afterAll(async () => {
  for (const store of stores) await store.close()
})

describe('the engine', { timeout: isSlow ? 3_600_000 : 60_000 }, () => {
  it('answers as the row oracle does', async () => {
    const batch = fc.array(queriesOf('e'), { minLength: queriesPerRun, maxLength: queriesPerRun })
    await fc.assert(
      fc.asyncProperty(fc.array(records, { maxLength: 20 }), batch, async (given, queries) => {
        const loaded = await load(given)
        for (const query of queries) await checkAnswer(printQuery(query), loaded)
      }),
      { numRuns: runs },
    )
  })

  it('splits rows into those where a condition is true, false and unknown', async () => {
    const batch = fc.array(conditions, { minLength: queriesPerRun, maxLength: queriesPerRun })
    await fc.assert(
      fc.asyncProperty(fc.array(records, { maxLength: 20 }), batch, async (given, tests) => {
        const loaded = await load(given)
        for (const test of tests) {
          const text = printExpression(test)
          for (const [store, id] of loaded.ids) await checkPartition(store, id, text)
        }
      }),
      { numRuns: runs },
    )
  })
})

async function checkAnswer(text: string, { ids, rows }: Loaded): Promise<void> {
  const query = parseQuery(text)
  const expected = answer(query, rows, { now: 0, tzOffset: 0 })
    .map((row) => toObject(row))
    .map((row) => json(row, true))
  for (const [store, id] of ids) {
    const lines = await ask(store, text.replace("experiment('e')", `experiment('${id}')`))
    const actual = lines.map((line) => json(parseJson(line) as Plain, true))
    expect(actual, `${store.setup.state}\n${text}`).toEqual(expected)
  }
}

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

async function ask(store: GoldenStore, query: string): Promise<string[]> {
  const { rows } = await store.engine.query({ query, view: store.gate, separator: '\n' })
  const lines: string[] = []
  for await (const { bytes } of rows) {
    if (bytes.length > 0) lines.push(...Buffer.from(bytes).toString().split('\n'))
  }
  return lines
}

async function load(given: readonly ArbitraryRecord[]): Promise<Loaded> {
  const named = given.map((record, i) => ({ id: `r${i}`, ...record }))
  const ids = new Map<GoldenStore, string>()
  experiments++
  for (const store of stores) {
    const { entry: project } = await store.gate.findOrCreateProject({ name: 'random' })
    const name = `e${experiments}`
    const { entry } = await store.gate.findOrCreateExperiment({ project_id: project.id, name })
    ids.set(store, entry.id)
    const size = store.setup.state === 'tiny' ? 2 : named.length
    for (let start = 0; start < named.length; start += size) {
      const body = Buffer.from(`{"events":${json(named.slice(start, start + size) as Plain)}}`)
      const object = { type: 'experiment', id: entry.id } as const
      await store.engine.insert({ body, form: 'events', object, view: store.gate })
      if (store.setup.state === 'tiny') await store.engine.flush()
    }
    if (store.setup.state === 'segment') await store.engine.flush()
  }
  return { ids, rows: named.map(toOracleRow) }
}

const columns = recordColumns.filter((column) => column.in.includes('experiment'))
const nulls = Object.fromEntries(columns.map(({ name }) => [name, null]))

function toOracleRow(record: ArbitraryRecord, index: number): OracleRow {
  return {
    value: { ...nulls, ...(record as Record<string, Plain>), is_root: true },
    paginationKey: `p${String(index).padStart(20, '0')}`,
  }
}

function toObject(row: readonly { name: string; value: Plain }[]): Plain {
  return Object.fromEntries(row.map(({ name, value }) => [name, value]))
}
