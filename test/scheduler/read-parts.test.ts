import { expect, it } from 'vitest'
import { MemoryBudget } from '../../src/scheduler/admission/memory-budget.ts'
import { ReadParts } from '../../src/scheduler/cold/read-parts.ts'
import { lentOf } from '../support/lent-memory.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'

const object = 1

function partsOf(count: number) {
  const records = new TemporaryRecords()
  records.insert(Array.from({ length: count }, (_, i) => ({ id: `r${i}`, input: `text ${i}` })))
  const rows = [...records.reader.readDelta(object, 0, records.reader.lastTransaction())]
  return rows.map((row) => {
    const [memory] = lentOf(object, [row])
    const { key: version, view } = row
    return { memory: memory!, key: { object, version, paginationKey: view.paginationKey } }
  })
}

it('keeps what was read last, as long as there is room, and until the query ends', () => {
  const parts = partsOf(4)
  const bytes = parts[0]!.memory.byteLength
  const budget = new MemoryBudget({ perQuery: 8 * 2.5 * bytes, total: 8 * 2.5 * bytes })
  const share = budget.share()
  const ending = new AbortController()
  const read = new ReadParts(share, ending.signal)
  for (const { memory } of parts.slice(0, 3)) read.add(memory)
  const keys = parts.map(({ key }) => key)
  const found = read.withRows(keys)
  expect(found.parts).toEqual([parts[1]!.memory, parts[2]!.memory])
  expect(found.missing).toEqual([keys[0], keys[3]])
  expect(budget.used).toBe(2 * bytes)
  // What tasks need comes first.
  share.take(budget.limits.total - budget.used)
  const other = new ReadParts(share, ending.signal)
  other.add(parts[3]!.memory)
  expect(other.withRows([keys[3]!]).missing).toEqual([keys[3]])
  share.release()
  ending.abort()
  expect(budget.used).toBe(0)
  read.add(parts[0]!.memory)
  expect(budget.used).toBe(0)
})
