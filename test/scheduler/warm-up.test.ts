/** Typical queries are run while nobody asks; nothing but the time shows it. */
import { expect, test } from 'vitest'
import { typicalQueries } from '../../src/scheduler/typical-queries.ts'
import { openLogs } from '../support/temporary-logs.ts'

const rows = Array.from({ length: 500 }, (_, n) => ({
  id: `r${n}`,
  input: `question ${n}`,
  metadata: { model: n % 2 === 0 ? 'a' : 'b' },
  metrics: { tokens: n },
}))

const kinds = typicalQueries({ columns: [] }, ['r1', 'r2'])

test('queries are run, and no statistics know of them', async () => {
  const { engine, insert, ask } = await openLogs()
  await insert(rows)
  await engine.flush()
  const before = engine.status()
  expect(await engine.warmUp(1)).toBeGreaterThanOrEqual(kinds.length)
  const { queries, plans, answers } = engine.status()
  expect({ queries, plans, answers }).toEqual({
    queries: before.queries,
    plans: before.plans,
    answers: before.answers,
  })
  expect(await ask('measures: count(1) as n')).toMatchObject({ n: 500 })
})

test('costs are those of all rows afterwards, of which it has read the last ones', async () => {
  const { engine, insert, answer } = await openLogs(1000)
  const spans = (metrics: object) => ({ root_span_id: 't', metrics })
  await insert([
    { id: 'agent', span_id: 'agent', ...spans({ tokens: 5, estimated_cost: 5 }) },
    { id: 'call', span_parents: ['agent'], ...spans({ tokens: 5, estimated_cost: 5 }) },
    ...Array.from({ length: 2000 }, (_, n) => ({ ...rows[n % rows.length], id: `after ${n}` })),
  ])
  await engine.flush()
  await engine.warmUp(1)
  expect(await answer('measures: sum(estimated_cost()) as cost')).toEqual([{ cost: 5 }])
})

test('it ends when the engine is closed', async () => {
  const { engine, insert } = await openLogs()
  await insert(rows)
  await engine.flush()
  // Longer than any test may take.
  const warmedUp = engine.warmUp(60)
  await engine.close()
  expect(await warmedUp).toBeGreaterThanOrEqual(0)
})

test('without segments it waits for the first one', async () => {
  const { engine, insert } = await openLogs()
  const warmedUp = engine.warmUp(0.1)
  await insert(rows)
  await engine.flush()
  expect(await warmedUp).toBeGreaterThan(0)
})

test('where others have asked many queries there is nothing left to do', async () => {
  const { engine, insert, ask } = await openLogs()
  await insert(rows)
  await engine.flush()
  for (let n = 0; n < 1000; n++) await ask(`measures: count(1) as n${n % 3}`)
  expect(await engine.warmUp(60)).toBe(0)
})

test('usual records have the fields of each query', async () => {
  const { engine, insert, page } = await openLogs()
  await insert(rows)
  await engine.flush()
  for (const query of kinds) {
    const text = query(7)
    const [, shape, clauses] = text.match(/^from: \S+\) ?(\w*) \| (.*)$/)!
    await expect(page(clauses!, shape), text).resolves.toBeDefined()
  }
})
