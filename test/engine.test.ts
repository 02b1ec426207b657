import { rm } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { Engine, type EngineOptions } from '../src/engine.ts'
import { ownerGate } from './support/owner-gate.ts'
import { makeTemporaryDirectory } from './support/temporary-directory.ts'

const running: { engine: Engine; directory: string }[] = []

afterEach(async () => {
  for (const { engine, directory } of running.splice(0)) {
    await engine.close()
    await rm(directory, { recursive: true })
  }
})

interface Experiment {
  readonly engine: Engine
  insert(events: readonly object[]): Promise<void>
  ask(clauses: string): Promise<{ rows: unknown[]; events: readonly Record<string, unknown>[] }>
}

async function openExperiment(options: Partial<EngineOptions>): Promise<Experiment> {
  const directory = await makeTemporaryDirectory('engine')
  const engine = await Engine.open({
    dataDirectory: directory,
    workers: 0,
    maintenance: { automatic: false, limits: { rows: 100 } },
    ...options,
  })
  running.push({ engine, directory })
  const view = await ownerGate(engine.catalog)
  const { entry: project } = await view.findOrCreate('project', { name: 'p' })
  const { entry } = await view.findOrCreate('experiment', { project_id: project.id, name: 'e' })
  const object = { type: 'experiment', id: entry.id } as const
  return {
    engine,
    insert: async (events) => {
      const body = Buffer.from(JSON.stringify({ events }))
      await engine.insert({ body, form: 'events', object, view })
    },
    ask: async (clauses) => {
      const query = `from: experiment('${entry.id}') | ${clauses}`
      const result = await engine.query({ query, view, auditLog: true, separator: '\n' })
      const rows: unknown[] = []
      for await (const { bytes } of result.rows) {
        const lines = Buffer.from(bytes).toString().split('\n')
        rows.push(...lines.map((line) => JSON.parse(line) as unknown))
      }
      return { rows, events: result.finish().auditLog ?? [] }
    },
  }
}

/** Since no row in them can be among the first. */
function granulesNotRead(events: readonly Record<string, unknown>[]): number {
  const skipped = events.find(({ event, by }) => event === 'skipped' && by === 'top rows')
  return Number(skipped?.granules ?? 0)
}

describe('a sorted query with a limit', () => {
  test('skips segments in which nothing can be among the first', async () => {
    const { engine, insert, ask } = await openExperiment({})
    const events = Array.from({ length: 2000 }, (_, i) => ({ id: `${i}`, metrics: { n: i } }))
    await insert(events)
    await engine.flush()

    const highest = await ask('select: metrics.n | sort: metrics.n desc | limit: 3')
    expect(highest.rows).toEqual([{ n: 1999 }, { n: 1998 }, { n: 1997 }])
    expect(granulesNotRead(highest.events)).toBeGreaterThan(10)

    const lowest = await ask('select: metrics.n | sort: metrics.n | limit: 2 | offset: 1')
    expect(lowest.rows).toEqual([{ n: 1 }, { n: 2 }])
    expect(granulesNotRead(lowest.events)).toBeGreaterThan(10)
  })

  test('skips none for a kind of value that sorts before the numbers', async () => {
    const { engine, insert, ask } = await openExperiment({})
    const number = (i: number) => ({ id: `n${i}`, metadata: { v: i } })
    await insert(Array.from({ length: 300 }, (_, i) => number(i)))
    await insert([{ id: 'text', metadata: { v: 'text' } }, number(1000)])
    await engine.flush()
    const { rows } = await ask('select: metadata.v | sort: metadata.v desc | limit: 2')
    expect(rows).toEqual([{ v: 'text' }, { v: 1000 }])
  })
})

describe('an acknowledged insert', () => {
  test.each([0, 2])('is in the next answer, with %i workers', async (workers) => {
    const { insert, ask } = await openExperiment({ workers })
    for (let i = 0; i < 200; i++) {
      await insert([{ id: 'same', input: i }])
      const { rows } = await ask(
        i % 2 === 0 ? 'select: input' : "select: input | filter: id = 'same'",
      )
      expect(rows).toEqual([{ input: i }])
    }
  })
})

describe('the deepest expressions that parse', () => {
  const sum = Array(499).fill('metadata.n').join(' + ')

  test.each([
    ['in a column', `select: ${sum} as x`, [{ x: 998 }, { x: 499 }]],
    ['in a filter', `select: id | filter: ${sum} > 600`, [{ id: 'b' }]],
    ['in a dimension', `dimensions: ${sum} as x`, [{ x: 499 }, { x: 998 }]],
    [
      'over aggregates',
      `measures: ${sum.replaceAll('metadata.n', 'sum(metadata.n)')} as x`,
      [{ x: 1497 }],
    ],
    [
      'as a ternary of 10,000 branches',
      `select: ${'metadata.n > 5 ? 1 : '.repeat(10_000)} 0 as x`,
      [{ x: 0 }, { x: 0 }],
    ],
  ])('run %s', async (_, query, expected) => {
    const { insert, ask } = await openExperiment({ workers: 1 })
    await insert([
      { id: 'a', metadata: { n: 1 } },
      { id: 'b', metadata: { n: 2 } },
    ])
    expect((await ask(query)).rows).toEqual(expected)
  })
})

describe('the audit log', () => {
  test('tells the stages, the rows that were read, and what was skipped and why', async () => {
    const { engine, insert, ask } = await openExperiment({})
    await insert(Array.from({ length: 400 }, (_, i) => ({ id: `${i}`, scores: { s: i / 400 } })))
    await engine.flush()
    const { events } = await ask('measures: count(1) as n | filter: scores.s >= 0.8')
    const stages = events.filter(({ event }) => event !== 'operator' && event !== 'skipped')
    expect(stages.map(({ event }) => event)).toEqual([
      'parse',
      'bind',
      'plan',
      'snapshot',
      'prune',
      'scan',
      'answer',
    ])
    expect(events.find(({ event }) => event === 'prune')).toMatchObject({
      segments: 4,
      segmentsRead: 1,
      rows: 400,
      rowsRead: 100,
      skipped: { 'scores.s >= 0.8': 300 },
    })
    expect(events.find(({ event }) => event === 'scan')).toMatchObject({
      rowsRead: 100,
      rowsMatched: 80,
      bytesRead: 800,
    })
  })

  test('tells what each operator did, and what ruled out the rest', async () => {
    const { engine, insert, ask } = await openExperiment({})
    const rows = Array.from({ length: 400 }, (_, i) => ({ id: `${i}`, scores: { s: i % 200 } }))
    await insert(rows)
    await engine.flush()
    const { events } = await ask(
      'dimensions: scores.s % 2 as odd | measures: count(1) as n | filter: scores.s >= 150 | sort: n',
    )
    const operators = events.filter(({ event }) => event === 'operator')
    expect(operators).toMatchObject([
      { operator: 'scan', rowsIn: 200, rowsOut: 200 },
      { operator: 'filter 0', rowsIn: 200, rowsOut: 100, bytes: 1600 },
      { operator: 'sink', rowsIn: 100 },
      { operator: 'merge', rowsOut: 2 },
      { operator: 'stage 0', rowsIn: 2, rowsOut: 2 },
      { operator: 'print', rowsOut: 2 },
    ])
    expect(events.filter(({ event }) => event === 'skipped')).toMatchObject([
      { by: 'zone map', segments: 2, granules: 2, rows: 200 },
    ])
  })
})

test('costs are by the prices that the engine was given, on every thread', async () => {
  const prices = { 'own-model': { input: 2, output: 4 } }
  const { insert, ask } = await openExperiment({ prices, workers: 1 })
  const metrics = { prompt_tokens: 1_000_000, completion_tokens: 500_000 }
  await insert([
    { id: 'a', metadata: { model: 'own-model' }, metrics },
    { id: 'b', metadata: { model: 'gpt-4o' }, metrics },
  ])
  const { rows } = await ask('select: id, estimated_cost() as cost | sort: id')
  expect(rows).toEqual([
    { id: 'a', cost: 4 },
    { id: 'b', cost: null },
  ])
  const summed = await ask('measures: sum(estimated_cost()) as cost | filter: estimated_cost() > 1')
  expect(summed.rows).toEqual([{ cost: 4 }])
})
