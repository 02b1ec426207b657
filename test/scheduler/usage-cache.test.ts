/** Whose usage counts is kept between queries of costs, and found anew once something was written. */
import { expect, it } from 'vitest'
import { openLogs } from '../support/temporary-logs.ts'

const agent = { id: 'a', span_id: 'a', root_span_id: 'a', metrics: { estimated_cost: 3 } }

function call(id: string, cost: number) {
  const metrics = { estimated_cost: cost }
  return { id, span_id: id, root_span_id: 'a', span_parents: ['a'], metrics }
}

const query = 'measures: sum(estimated_cost()) as cost'

it('a cost that is asked for again is that of now', async () => {
  const logs = await openLogs()
  await logs.insert([agent])
  expect(await logs.answer(query)).toEqual([{ cost: 3 }])
  await logs.insert([call('b', 1)])
  expect(await logs.answer(query)).toEqual([{ cost: 1 }])
  await logs.insert([call('c', 2)])
  await logs.engine.flush()
  expect(await logs.answer(query)).toEqual([{ cost: 3 }])
  expect(await logs.answer(query)).toEqual([{ cost: 3 }])
})

it('a cost that is asked for again reads its rows once', async () => {
  const logs = await openLogs()
  await logs.insert([agent, call('b', 1)])
  await logs.engine.flush()
  const read = async () => (await logs.progressOf(query))?.rowsRead
  expect(await read()).toBe(4)
  expect(await read()).toBe(2)
})
