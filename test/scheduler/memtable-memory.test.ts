import { expect, it } from 'vitest'
import { FreshRows } from '../../src/scheduler/maintenance/fresh-rows.ts'
import { RetiredMemory } from '../../src/scheduler/maintenance/memtable-memory.ts'
import { MemtableBuilder } from '../../src/storage/prepare/memtable.ts'
import { type PrepareOptions, prepareTogether } from '../../src/storage/prepare/prepare.ts'
import { SharedMemory } from '../../src/storage/shared-memory.ts'

function opened() {
  const memory = new SharedMemory(4)
  const retired = new RetiredMemory(memory)
  const taken = [memory.take(2)!, memory.take(2)!] as const
  /** Which of the two nobody has. */
  const free = () => {
    const found = [memory.take(2), memory.take(2)].filter((each) => each !== undefined)
    for (const each of found) memory.giveBack(each)
    return found.map((each) => taken.indexOf(each)).sort()
  }
  return { retired, taken, free }
}

it('gives memory back that nobody reads', () => {
  const { retired, taken, free } = opened()
  expect(free()).toEqual([])
  retired.retire([taken[1]])
  expect(free()).toEqual([1])
})

it('keeps it for readers that were there before, and for no others', () => {
  const { retired, taken, free } = opened()
  const first = retired.addReader()
  const second = retired.addReader()
  retired.retire([taken[0]])
  const third = retired.addReader()
  retired.retire([taken[1]])
  second()
  expect(free()).toEqual([])
  first()
  // A reader that has ended twice has ended once.
  first()
  expect(free()).toEqual([0])
  third()
  expect(free()).toEqual([0, 1])
})

it('parts that were flushed are kept for the snapshots that have them', () => {
  const memory = new SharedMemory(2 ** 20)
  const fresh = new FreshRows({ memory })
  const options: PrepareOptions = {
    form: 'events',
    nowMs: 0,
    object: { type: 'project_logs', id: 'P' },
    blockLimits: { bytes: 300, worthwhileBytes: 0 },
  }
  const { rows } = prepareTogether([{ body: Buffer.from('{"events": [{}, {}]}'), options }])
  const given = memory.take(2 ** 16)!
  const prepared = new MemtableBuilder(2).make(rows, given)
  expect(prepared).toMatchObject([{ isGiven: true, rowCount: 2 }])
  const objects = [{ object: 1, rows: 2, bytes: 100, supersessions: 0 }]
  fresh.add(
    { first: 5, transaction: 5, transactions: [5], objects, unchanged: [1], newFields: [] },
    prepared,
    [1],
  )
  const snapshot = fresh.at(5)
  expect(snapshot.memtables).toMatchObject([{ memory: given, first: 5, last: 5 }])
  fresh.flushed(5)
  expect(memory.take(2 ** 16)).not.toBe(given)
  snapshot.release()
  expect(memory.take(2 ** 16)).toBe(given)
})

it('a part that is not taken, as one of its records was there before, is given back at once', () => {
  const memory = new SharedMemory(2 ** 20)
  const given = memory.take(2 ** 16)!
  const objects = [{ object: 1, rows: 2, bytes: 100, supersessions: 0 }]
  new FreshRows({ memory }).add(
    { first: 5, transaction: 5, transactions: [5], objects, unchanged: [], newFields: [] },
    [{ object: 0, rowCount: 2, memory: given, isGiven: true }],
    [1],
  )
  expect(memory.take(2 ** 16)).toBe(given)
})
