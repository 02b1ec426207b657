import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FairQueue } from '../../src/scheduler/admission/fair-queue.ts'

test('what is due first leaves first, and of what is due together what came first', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5 })), (dues) => {
      const queue = new FairQueue<number>()
      for (const [item, due] of dues.entries()) queue.push(item, due)
      const left: number[] = []
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) left.push(item)
      const items = dues.map((_, item) => item)
      expect(left).toEqual(items.sort((a, b) => dues[a]! - dues[b]! || a - b))
      expect(queue.size).toBe(0)
    }),
  )
})

test('what is taken out is gone, and the others keep their order', () => {
  const queue = new FairQueue<string>()
  for (const [due, item] of ['d', 'a', 'c', 'b', 'e'].entries()) queue.push(item, due)
  expect(queue.take((item) => item === 'a' || item === 'b').sort()).toEqual(['a', 'b'])
  expect(queue.take((item) => item === 'x')).toEqual([])
  expect([queue.shift(), queue.shift(), queue.shift(), queue.shift()]).toEqual([
    'd',
    'c',
    'e',
    undefined,
  ])
})
