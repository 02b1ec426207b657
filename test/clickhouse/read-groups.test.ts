/**
 * Groups that the cluster makes are those of the row oracle, and so are the first rows of an order. Over random records,
 * keys, aggregates, conditions and sort keys.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileGroupScan, compileScan } from '../../src/clickhouse/read/compile-scan.ts'
import type { ScanParameters } from '../../src/clickhouse/read/compiled-scan.ts'
import { createAggregateState } from '../../src/executor/aggregate/create.ts'
import { keyAt } from '../../src/executor/column/key-column.ts'
import type { WireValues } from '../../src/executor/column/wire-values.ts'
import { type GroupRow, groupsOfCluster } from '../../src/executor/group/cluster-groups.ts'
import { sequence } from '../../src/kernel/sequence.ts'
import { printExpression } from '../../src/parser/print.ts'
import { fromPlain } from '../../src/type/plain.ts'
import { writeSortedJson } from '../../src/type/write-json.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { aggregatesOver, conditions, numberPaths, values } from '../support/arbitrary-expression.ts'
import { records } from '../support/arbitrary-record.ts'
import { clock, physicalQuery } from '../support/compiled-plan.ts'
import { arrivedRound, loadTable } from '../support/exported-rows.ts'
import { isClusterAsked, useCluster } from '../support/given-cluster.ts'
import { comparable, expectedLines, type Loaded } from '../support/oracle-check.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'

const clusterNumber = 96
const database = 'assay_groups'
const loads = isSlow ? 50 : 1
const queriesPerLoad = Number(process.env.ASSAY_CASES ?? 100)

const measures = aggregatesOver({ value: values, condition: conditions }, numberPaths)
const key = fc.option(values, { nil: undefined, freq: 3 })
const filter = fc.option(conditions, { nil: undefined, freq: 1 })
const direction = fc.constantFrom('asc', 'desc')

const groupings = fc.tuple(key, measures, filter).map(([of, measure, where]) => {
  const dimensions = of ? `dimensions: ${printExpression(of)} as k | ` : ''
  const condition = where ? ` | filter: ${printExpression(where)}` : ''
  return `${dimensions}measures: ${printExpression(measure)} as m | from: experiment('e')${condition}`
})

/** What is made of elements and entries, some of which only bodies have. */
const unpivoted = fc
  .tuple(
    fc.constantFrom('scores', 'metrics', 'tags', 'metadata.a', 'metadata', "[1, 2, 'a']", '[0, 1]'),
    fc.constantFrom('name', 'value', 'metadata.model', 'value.a', 'is_root'),
    fc.constantFrom(
      ...['count(1)', 'sum(value)', 'max(value)', 'min(name)', 'count(distinct value)'],
      ...['array_agg(name)', 'count_if(value = 1)', 'max(scores.x)', 'count(value.a)'],
    ),
    fc.constantFrom(
      ...['true', 'value > 0', "name like 'a%'", 'name != 0', "metadata.model = 'm1'"],
      ...["value = 'a' or name = 1", 'not (value = 1)', 'value is null', 'value.a is not null'],
    ),
    fc.constantFrom('', ', tags as tag', ', scores as (score, number)'),
  )
  .map(([of, key, measure, where, more]) => {
    return `dimensions: ${key} as k | measures: ${measure} as m | from: experiment('e') | unpivot: ${of} as (name, value)${more} | filter: ${where}`
  })

/** A number may stand for the place of a column. */
const sorted = values.filter(({ kind }) => kind === 'path' || kind === 'call' || kind === 'not')

const firstRows = fc
  .tuple(sorted, direction, filter, fc.nat(5), fc.nat(3))
  .map(([by, way, where, limit, offset]) => {
    const condition = where ? ` | filter: ${printExpression(where)}` : ''
    return `select: id | from: experiment('e')${condition} | sort: ${printExpression(by)} ${way} | limit: ${limit} | offset: ${offset}`
  })

describe.runIf(isClusterAsked)(`groups, seed ${seed}`, { timeout: 3_600_000 }, () => {
  const cluster = useCluster(clusterNumber, 2)

  async function forEachLoad(
    queries: fc.Arbitrary<string>,
    check: (text: string, loaded: Loaded, object: number) => Promise<string>,
  ): Promise<void> {
    const counts: Record<string, number> = {}
    for (let i = 0; i < loads; i++) {
      const options = { numRuns: 1, seed: seed + i }
      const many = fc.array(records, { minLength: 40, maxLength: 40 })
      const { loaded, object } = await loadTable(cluster(), database, fc.sample(many, options)[0]!)
      for (const text of fc.sample(queries, { numRuns: queriesPerLoad, seed: seed + i })) {
        const found = await check(text, loaded, object)
        counts[found] = (counts[found] ?? 0) + 1
      }
    }
    console.log(`seed ${seed}: ${JSON.stringify(counts)}`)
  }

  test.each([
    ['the groups', groupings],
    ['the groups of what unpivots make', unpivoted],
  ])('are %s of the oracle', async (_, queries) => {
    await forEachLoad(queries, async (text, loaded, object) => {
      const { plan, semiJoinSets } = physicalQuery(text, () => object)
      if (plan.access.kind !== 'scan' || semiJoinSets.length > 0) return 'no scan'
      const compiled = compileGroupScan(plan, bounds, clock)
      if (!compiled) return 'not made'
      const { rest, isRestCounted, form } = compiled
      const { keyCount, states } = form
      const others = rest ? await ask<{ body: string }>(cluster(), rest.sql, rest.parameters) : []
      if (plan.stage.kind !== 'groups' || plan.stages.length > 1) return 'further stages'
      const texts = await ask<object>(cluster(), compiled.sql, compiled.parameters)
      const told = texts.map(
        (row) => JSON.parse(String(Object.values(row)[0])) as GroupRow | number,
      )
      const rows = told.filter((row) => typeof row !== 'number')
      const inDoubt = told.filter((row) => typeof row === 'number')
      if (isRestCounted) expect(inDoubt.reduce((sum, rows) => sum + rows, 0)).toBe(others.length)
      const groups = groupsOfCluster(rows, form)
      const results = plan.stage.aggregates.map((aggregate, i) => {
        const state = createAggregateState(aggregate)
        state.resize(rows.length)
        state.merge(groups.states[i]!, sequence(0, rows.length))
        return rows.map((_, group) => state.result(group))
      })
      const lines = rows.map((_, group) => {
        const columns = plan.output.columns.map(({ name, expression }) => {
          if (expression.kind !== 'group_column') return undefined
          const { index } = expression
          const value =
            index < keyCount
              ? fromPlain(keyAt(groups.keys[index] as WireValues, group))
              : results[index - keyCount]![group]!
          return `${JSON.stringify(name)}:${writeSortedJson(value)}`
        })
        return columns.includes(undefined) ? undefined : comparable(`{${columns.join(',')}}`)
      })
      if (lines.includes(undefined)) return 'calculated'
      // Without keys, no group is told of no rows.
      if (isRestCounted && rows.length === 0 && keyCount === 0) return 'no rows'
      const expected = expectedLines(without(text, others.map(idOf)), loaded)
      expect(lines.toSorted(), `${text}\n${compiled.sql}`).toEqual(expected.toSorted())
      const isAny = lines.length > 0
      return `${isAny ? 'same' : 'none'} ${states.join(' ')}${others.length > 0 ? ' of some' : ''}`
    })
  })

  test('are the first rows of the oracle', async () => {
    await forEachLoad(firstRows, async (text, loaded, object) => {
      const { plan, semiJoinSets } = physicalQuery(text, () => object)
      if (plan.access.kind !== 'scan' || semiJoinSets.length > 0) return 'no scan'
      const compiled = compileScan(plan, bounds, clock)
      if (compiled.result.limit === undefined) return 'all'
      const rows = await ask<{ body: string }>(cluster(), compiled.sql, compiled.parameters)
      const ids = rows.map(idOf)
      const expected = expectedLines(text, loaded).map(
        (line) => (JSON.parse(line) as { id: string }).id,
      )
      expect(ids, `${text}\n${compiled.sql}`).toEqual(expect.arrayContaining(expected))
      if (ids.length > compiled.result.limit) return 'with others'
      const { offset } = plan
      expect(ids.slice(offset), `${text}\n${compiled.sql}`).toEqual(expected)
      return 'same'
    })
  })
})

function idOf({ body }: { readonly body: string }): string {
  return (JSON.parse(body) as { id: string }).id
}

/** The same query without some records. */
function without(text: string, ids: readonly string[]): string {
  if (ids.length === 0) return text
  const others = `not (id in [${ids.map((id) => `'${id}'`).join(', ')}])`
  return text.includes(' | filter: ')
    ? text.replace(/ \| filter: (.*)$/s, ` | filter: ($1) and ${others}`)
    : `${text} | filter: ${others}`
}

const newest = 2 ** 48 - 2
const bounds = {
  database,
  exportedThrough: newest,
  arrivedThrough: newest,
  areEndsKnown: true,
  round: arrivedRound,
  transaction: newest,
  after: undefined,
}

async function ask<Row = Record<string, unknown>>(
  cluster: Cluster,
  sql: string,
  parameters: ScanParameters,
): Promise<Row[]> {
  const given = Object.entries(parameters).map(([name, value]): [string, string] => {
    return [`param_${name}`, Array.isArray(value) ? `[${value.join(',')}]` : String(value)]
  })
  return cluster.ask<Row>(1, sql, Object.fromEntries(given))
}
