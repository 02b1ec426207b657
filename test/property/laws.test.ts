/**
 * Laws that hold whatever the records are: two ways to ask for one thing give one answer. They need
 * no second implementation, so they hold the parts of the language to account that it knows not.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Query } from '../../src/parser/ast.ts'
import { parseQuery } from '../../src/parser/parse.ts'
import { printExpression } from '../../src/parser/print.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import { printSqlQuery } from '../../src/parser/print-sql.ts'
import { conditions, values } from '../support/arbitrary-expression.ts'
import { queries } from '../support/arbitrary-query.ts'
import { type ArbitraryRecord, records } from '../support/arbitrary-record.ts'
import { ask, askPage, insert, load, withIds, withNames } from '../support/oracle-check.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'
import { GoldenStore, type StorageState } from '../support/slt-runner.ts'

const runs = isSlow ? 400 : 5
const timeLimitMs = isSlow ? 60_000 : 10_000
const states: readonly StorageState[] = ['delta', 'tiny', 'segment']

let stores: GoldenStore[] = []

beforeAll(async () => {
  stores = await Promise.all(states.map((state) => GoldenStore.open({ state, workers: 0 })))
})

afterAll(async () => {
  for (const store of stores) await store.close()
})

/** JSON that a query gave; texts are compared as they are. */
type Row = Record<string, unknown>

/** An experiment of a store, to ask about. */
interface Asked {
  readonly store: GoldenStore
  /** Puts the experiment in place of `experiment('e')`. */
  readonly rows: (query: string) => Promise<Row[]>
  readonly lines: (query: string) => Promise<string[]>
  readonly ids: readonly string[]
}

const someRecords = fc.array(records, { maxLength: 20 })

/** Holds a law over random records, and something else that is random, in every storage state. */
async function holds<T>(
  given: fc.Arbitrary<T>,
  law: (asked: Asked, given: T, count: number) => Promise<void>,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(someRecords, given, async (list, input) => {
      const loaded = await load(stores, list)
      for (const [store, ids] of loaded.ids) {
        const lines = async (query: string) => await ask(store, withIds(query, ids))
        const rows = async (query: string) => (await lines(query)).map((line) => JSON.parse(line))
        await law({ store, ids, rows, lines }, input, list.length)
      }
    }),
    { numRuns: runs, seed, interruptAfterTimeLimit: timeLimitMs },
  )
}

const from = "from: experiment('e')"
const nothing = fc.constant(undefined)
const texts = conditions.map(printExpression)

function total(rows: readonly Row[], name: string): number {
  return rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0)
}

describe(`laws, seed ${seed}`, { timeout: isSlow ? 600_000 : 30_000 }, () => {
  it('groups together have the rows, the values and the sums of all rows', () =>
    holds(fc.tuple(values.map(printExpression), texts), async ({ rows }, [key, test]) => {
      const measures = 'measures: count(1) as n, count(scores.x) as c, sum(metrics.n) as s'
      const rest = `${measures} | ${from} | filter: ${test}`
      const groups = await rows(`dimensions: (${key}) as k | ${rest}`)
      const [whole] = await rows(rest)
      expect(total(groups, 'n'), key).toBe(whole!.n)
      expect(total(groups, 'c'), key).toBe(whole!.c)
      expect(total(groups, 's'), key).toBe(whole!.s ?? 0)
    }))

  it('an offset continues where a limit ends', () =>
    holds(fc.integer({ min: 1, max: 7 }), async ({ lines }, size) => {
      for (const query of pagedQueries) {
        const all = await lines(query)
        const parts: string[] = []
        for (let offset = 0; offset < all.length; offset += size) {
          parts.push(...(await lines(`${query} | limit: ${size} | offset: ${offset}`)))
        }
        expect(parts, query).toEqual(all)
      }
    }))

  it('pages by cursor have every row once, in order', () =>
    holds(fc.integer({ min: 1, max: 7 }), async ({ store, lines, ids }, size) => {
      for (const query of pagedQueries) {
        const pages = await pagesOf(store, withIds(`${query} | limit: ${size}`, ids))
        expect(pages, `${store.setup.state} ${query}`).toEqual(await lines(query))
      }
    }))

  it('pages by cursor have every row that was there, whatever is inserted between them', () =>
    holds(fc.tuple(fc.integer({ min: 1, max: 5 }), records), async (asked, [size, record]) => {
      const { store, lines, ids } = asked
      for (const [i, query] of pagedQueries.entries()) {
        const before = (await lines(query)).filter(isOld)
        let inserted = 0
        const pages = await pagesOf(store, withIds(`${query} | limit: ${size}`, ids), async () => {
          if (inserted > 3) return
          const id = `late${i}_${inserted++}`
          await insert(store, ids[0]!, [newTrace(record, id)])
        })
        expect(pages.filter(isOld), `${store.setup.state} ${query}`).toEqual(before)
        expect(new Set(pages).size, query).toBe(pages.length)
      }
    }))

  it('pages of traces have every span once', () =>
    holds(fc.integer({ min: 1, max: 3 }), async ({ store, lines, ids }, size) => {
      const query = `select: id, root_span_id | ${from} traces`
      const pages = await pagesOf(store, withIds(`${query} | limit: ${size}`, ids))
      expect(sorted(pages)).toEqual(sorted(await lines(query)))
    }))

  it('SQL and clauses say the same', () =>
    holds(fc.array(queries, { minLength: 6, maxLength: 6 }), async ({ store, lines }, list) => {
      for (const query of list.filter(({ comparisonKey }) => !comparisonKey).map(ofOne)) {
        const clauses = printQuery(query)
        const sql = printSqlQuery(query)
        expect(await lines(sql), `${store.setup.state}\n${clauses}\n${sql}`).toEqual(
          await lines(clauses),
        )
      }
    }))

  it('a nested query without a limit may be written into the one around it', () =>
    holds(fc.tuple(values, texts, texts), async ({ lines }, [value, inner, outer]) => {
      const shown = `(${printExpression(value)}) as v`
      const nested = `select: id, v | from: (select: *, ${shown} | ${from} | filter: ${inner})`
      const flat = `select: id, ${shown} | ${from} | filter: (${inner})`
      expect(await lines(`${nested} | sort: v desc`)).toEqual(await lines(`${flat} | sort: v desc`))
      expect(await lines(`${nested} | filter: v is not null`), outer).toEqual(
        await lines(`${flat} and v is not null`),
      )
    }))

  it('a sample is a part of the rows, and the same one for the same seed', () =>
    holds(fc.tuple(fc.integer({ min: 1, max: 99 }), texts), async (asked, [percent, test]) => {
      const rows = `select: id | ${from} | filter: ${test}`
      const all = await asked.lines(rows)
      const sampled = await asked.lines(`${rows} | sample: ${percent}% seed 7`)
      expect(all.filter((line) => sampled.includes(line))).toEqual(sampled)
      expect(await asked.lines(`${rows} | sample: ${percent}% seed 7`)).toEqual(sampled)
      const some = await asked.lines(`${rows} | sample: ${(percent % 9) + 1} seed 7`)
      expect(some).toHaveLength(Math.min((percent % 9) + 1, all.length))
      expect(all.filter((line) => some.includes(line))).toEqual(some)
      expect(await asked.lines(`${rows} | sample: 100%`)).toEqual(all)
    }))

  it('cells of a pivot are the values of groups', () =>
    holds(texts, async ({ rows }, test) => {
      const groups = `dimensions: is_root as r, metadata.model as k | measures: count(1) as n, max(scores.x) as x | ${from} | filter: ${test}`
      const cells = (await rows(`${groups} | pivot: n, x`)).flatMap(({ r, ...columns }) =>
        Object.entries(columns).map(([name, value]) => [r, name, value] as const),
      )
      const wanted = (await rows(groups)).flatMap(({ r, k, n, x }) => [
        [r, `${k}_n`, n],
        [r, `${k}_x`, x],
      ])
      const isFilled = ([, , value]: readonly unknown[]) => value !== null
      expect(sorted(cells.filter(isFilled))).toEqual(sorted(wanted.filter(isFilled)))
    }))

  it('unpivot of scores has what queries of each score have', () =>
    holds(texts, async ({ rows }, test) => {
      const made = await rows(
        `dimensions: score_name | measures: count(1) as n, avg(value) as mean | ${from} | unpivot: scores as (score_name, value) | filter: ${test}`,
      )
      for (const score of ['x', 'y']) {
        const [whole] = await rows(
          `measures: count(scores.${score}) as n, avg(scores.${score}) as mean | ${from} | filter: ${test}`,
        )
        const found = made.find((row) => row.score_name === score)
        expect(found?.n ?? 0, score).toBe(whole!.n)
        expect(found?.mean ?? null, score).toBe(whole!.mean)
      }
    }))

  it('traces are the spans of those traces that have a matching span', () =>
    holds(texts, async ({ rows, lines }, test) => {
      const found = await rows(`dimensions: root_span_id | ${from} | filter: ${test}`)
      const list = found.map(({ root_span_id }) => `'${root_span_id}'`).join(', ')
      const traces = await lines(`select: id, root_span_id | ${from} traces | filter: ${test}`)
      const joined = `select: id, root_span_id | ${from} | filter: root_span_id in [${list}]`
      expect(traces, test).toEqual(await lines(joined))
      const asked = `select: id, root_span_id | ${from} | filter: any_span(${test})`
      expect(await lines(asked), test).toEqual(traces)
    }))

  it('a summary has the mean of each score over the spans of the trace', () =>
    holds(nothing, async ({ rows }) => {
      const summary = await rows(
        `select: root_span_id, scores.x, scores.y, metrics.n as n, metrics.llm_calls as calls | ${from} summary | sort: root_span_id`,
      )
      const groups = await rows(
        `dimensions: root_span_id | measures: avg(scores.x) as x, avg(scores.y) as y, sum(metrics.n) as n, count_if(span_attributes.type = 'llm' and not repeats_usage()) as calls | ${from} | sort: root_span_id`,
      )
      expect(summary).toEqual(groups)
    }))

  it('printing changes no query', () => {
    fc.assert(
      fc.property(queries, (query) => {
        const text = printQuery(query)
        expect(printQuery(parseQuery(text))).toBe(text)
        const sql = printSqlQuery(query)
        expect(printSqlQuery(parseQuery(sql))).toBe(sql)
      }),
      { numRuns: runs * 50, seed, interruptAfterTimeLimit: timeLimitMs },
    )
  })
})

/** Of every order that pages can be in; each row has an id. */
const pagedQueries = [
  `select: id | ${from}`,
  `select: id, metadata.a | ${from} | sort: metadata.a`,
  `select: id | ${from} | sort: metrics.n desc, created`,
  `select: id, created | ${from} | sort: created desc | filter: metadata.b is not null`,
  `select: id | ${from} summary`,
  `select: id, metrics.n | ${from} summary | sort: metrics.n desc`,
]

/** Follows cursors to the end. */
async function pagesOf(
  store: GoldenStore,
  query: string,
  between: () => Promise<void> = async () => undefined,
): Promise<string[]> {
  const lines: string[] = []
  let page = await askPage(store, query)
  for (let count = 0; page.lines.length > 0 && page.cursor !== undefined; count++) {
    lines.push(...page.lines)
    expect(count, query).toBeLessThan(60)
    await between()
    page = await askPage(store, `${query} | cursor: '${page.cursor}'`)
  }
  return [...lines, ...page.lines]
}

function isOld(line: string): boolean {
  return !line.includes('"late')
}

/** A span of a trace that nothing else is in. */
function newTrace(record: ArbitraryRecord, id: string) {
  const named = { ...record, id, span_id: id, root_span_id: id }
  return { ...withNames(named, 0, 0), record: named }
}

/** The query of one experiment only. */
function ofOne(query: Query): Query {
  const source = query.from!
  return source.kind === 'subquery'
    ? { ...query, from: { ...source, query: ofOne(source.query) } }
    : { ...query, from: { ...source, ids: source.ids.slice(0, 1) } }
}

function sorted(list: readonly unknown[]): string[] {
  return list.map((item) => JSON.stringify(item)).sort()
}
