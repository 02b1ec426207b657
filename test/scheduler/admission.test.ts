import { expect, test } from 'vitest'
import { AssayError } from '../../src/error.ts'
import { Admission } from '../../src/scheduler/admission/admission.ts'
import { MemoryBudget } from '../../src/scheduler/admission/memory-budget.ts'
import { RunningQueries } from '../../src/scheduler/admission/running-queries.ts'
import { RunningQuery } from '../../src/scheduler/admission/running-query.ts'

const memory = new MemoryBudget({ perQuery: 1000, total: 1500 })
const owner = { organizationId: 'o', userId: 'u', keyId: 'k', requestId: 'r' }

function query(id: string): RunningQuery {
  return new RunningQuery({ id, owner, text: 'q', startedAt: 0, memory })
}

test('queries beyond the limit wait, and go by when they are due', async () => {
  const admission = new Admission({ running: 1, queued: 10 })
  const [first, long, short] = [query('first'), query('long'), query('short')]
  expect(admission.enter(first, 0)).toBeUndefined()
  expect(admission.enter(first, 0)).toBeUndefined()
  const order: string[] = []
  const waits = [
    admission.enter(long, 100)!.then(() => order.push('long')),
    admission.enter(short, 50)!.then(() => order.push('short')),
  ]
  expect([admission.running, admission.queued]).toEqual([1, 2])
  expect(long.status.state).toBe('queued')
  admission.leave(first)
  await waits[1]
  expect(order).toEqual(['short'])
  admission.leave(short)
  await Promise.all(waits)
  expect(order).toEqual(['short', 'long'])
  expect(long.status.state).toBe('running')
})

test('tasks of one query wait together and take one place', async () => {
  const admission = new Admission({ running: 1, queued: 1 })
  const [first, second] = [query('first'), query('second')]
  admission.enter(first, 0)
  const turn = admission.enter(second, 0)
  expect(admission.enter(second, 5)).toBe(turn)
  expect(admission.queued).toBe(1)
  admission.leave(first)
  await turn
  expect([admission.running, admission.queued]).toEqual([1, 0])
})

test('when too many wait, the next is refused and told when to try again', () => {
  const admission = new Admission({ running: 1, queued: 1 })
  admission.enter(query('first'), 0)
  admission.enter(query('second'), 0)
  const refuse = () => admission.enter(query('third'), 0)
  expect(refuse).toThrow(
    expect.objectContaining({
      code: 'LIMIT_OVERLOADED',
      message: '1 queries are waiting already',
      retryAfterSeconds: 1,
    }),
  )
})

test('a query that has begun to answer is let in again, however many wait', async () => {
  const admission = new Admission({ running: 1, queued: 1 })
  const [begun, running, waiting] = [query('begun'), query('running'), query('waiting')]
  begun.rowsSent = 100
  admission.enter(running, 0)
  const late = admission.enter(waiting, 0)
  const early = admission.enter(begun, 1_000_000)
  admission.leave(running)
  await early
  expect(admission.queued).toBe(1)
  admission.leave(begun)
  await late
})

test('a cancelled query stops waiting, with the reason', async () => {
  const admission = new Admission({ running: 1, queued: 10 })
  const cancelled = query('cancelled')
  admission.enter(query('first'), 0)
  const turn = admission.enter(cancelled, 0)
  cancelled.cancel(new AssayError('QUERY_TIMEOUT', 'too late'))
  admission.dropCancelled()
  await expect(turn).rejects.toThrow('too late')
  expect(admission.queued).toBe(0)
})

test('a share of memory is bounded by the budget of the query and by that of all', () => {
  const [a, b] = [memory.share(), memory.share()]
  a.take(1000)
  expect(() => a.take(1)).toThrow(
    expect.objectContaining({
      code: 'LIMIT_MEMORY',
      message: expect.stringContaining('the query would hold more than its budget of'),
    }),
  )
  b.take(500)
  expect(() => b.take(1)).toThrow(/^all queries together would hold more than their budget of/)
  expect(memory.used).toBe(1500)
  a.release()
  b.take(500)
  b.release()
  expect(memory.used).toBe(0)
})

test('a key and an organization may have so many queries at once', () => {
  const queries = new RunningQueries({ perKey: 1, perOrganization: 2 })
  const start = (id: string, keyId: string, organizationId = 'o') => {
    const who = { ...owner, keyId, organizationId }
    return queries.start({ id, owner: who, text: 'q', startedAt: 0, memory })
  }
  const first = start('1', 'key a')
  expect(() => start('2', 'key a')).toThrow(
    'this key has a query that runs, and may have no more at once',
  )
  start('3', 'key b')
  expect(() => start('4', 'key c')).toThrow('this organization has 2 queries that run')
  start('5', 'key c', 'other')
  queries.end(first)
  start('6', 'key a')
  expect(queries.list().map(({ id }) => id)).toEqual(['3', '5', '6'])
})

test('what tasks are lent counts beside what the query holds, until they are done', () => {
  const share = new MemoryBudget({ perQuery: 1000, total: 1500 }).share()
  share.take(400)
  share.lend(500)
  expect(() => share.lend(200)).toThrow('budget')
  expect(() => share.take(200)).toThrow('budget')
  share.release()
  share.lend(200)
  share.takeBack(500)
  share.take(800)
  expect(share.bytes).toBe(800)
})
