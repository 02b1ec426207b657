/** After a start, typical queries are run while nobody asks; nothing but the time shows it. */
import { expect, test } from 'vitest'
import { openLogs } from '../support/temporary-logs.ts'

const rows = Array.from({ length: 500 }, (_, n) => ({
  id: `r${n}`,
  input: `question ${n}`,
  metadata: { model: n % 2 === 0 ? 'a' : 'b' },
  metrics: { tokens: n },
}))

test('queries are run, and no statistics know of them', async () => {
  const { engine, insert, ask } = await openLogs()
  await insert(rows)
  await engine.flush()
  const before = engine.status()
  // Most of the ten kinds: all of them suit these records.
  expect(await engine.warmUp(1)).toBeGreaterThanOrEqual(8)
  const { queries, plans, answers } = engine.status()
  expect({ queries, plans, answers }).toEqual({
    queries: before.queries,
    plans: before.plans,
    answers: before.answers,
  })
  expect(await ask('measures: count(1) as n')).toMatchObject({ n: 500 })
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

test('without segments there is nothing to be run', async () => {
  const { engine } = await openLogs()
  expect(await engine.warmUp(60)).toBe(0)
})
