/** Look-ups of one turn share a read transaction, and yet see all that was known to be written. */
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { hasNoSupersession } from '../../src/executor/scan/visibility.ts'
import { openSegments } from '../../src/storage/environment.ts'
import { hasReaderBefore } from '../../src/storage/maintenance/trim-files.ts'
import type { RecordReader } from '../../src/storage/read/record-reader.ts'
import { TaskReads } from '../../src/storage/read/task-reads.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'

function opened() {
  const records = new TemporaryRecords()
  const reads = new TaskReads(
    records.environment,
    openSegments(records.directory, { readOnly: false }),
  )
  const inputOf = (id: string, seen: number) =>
    reads.withShared(seen, (reader: RecordReader, transaction) => {
      return reader.versionAsOf(1, id, seen, transaction)?.view.fieldText('input')
    })
  const insert = (rows: readonly object[]): number => {
    const outcome = records.insert(rows)
    if ('error' in outcome) throw new Error(outcome.error.message)
    return outcome.written.transaction
  }
  return { insert, reads, inputOf, root: records.environment.root }
}

test('what was written in the meantime is there for who knows of it', () => {
  const { insert, inputOf } = opened()
  const first = insert([{ id: 'a', input: 1 }])
  expect(inputOf('a', first)).toBe('1')
  const second = insert([{ id: 'a', input: 2 }])
  expect(inputOf('a', first)).toBe('1')
  expect(inputOf('a', second)).toBe('2')
  // Five records make a run of ids of their own.
  const many = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, input: 3 }))
  const third = insert(many)
  expect([inputOf('a', third), inputOf('e', third)]).toEqual(['3', '3'])
  expect(inputOf('e', third)).toBe('3')
})

test('other reads of the turn, and the next turn, begin anew', async () => {
  const { insert, reads, inputOf } = opened()
  const events = ['a', 'b', 'c', 'd'].map((id) => ({ id, input: 1 }))
  const first = insert(events)
  expect(inputOf('a', first)).toBe('1')
  insert([{ id: 'e', input: 2 }])
  expect(reads.during((fresh) => fresh.records.has(1, 'e'))).toBe(true)
  expect(inputOf('a', first)).toBe('1')
  insert(events.map(({ id }) => ({ id, input: 4 })))
  await setImmediate()
  expect(reads.during((fresh) => fresh.records.latest(1, 'a')?.view.fieldText('input'))).toBe('4')
  expect(inputOf('a', first)).toBe('1')
})

test('a question of which the first answer is enough leaves nothing open', () => {
  const { insert, reads, root } = opened()
  insert([{ id: 'a', input: 1 }])
  const last = insert([{ id: 'a', input: 2 }])
  const [from, to] = [
    { transaction: 0, index: 0 },
    { transaction: last, index: 0xffff },
  ]
  const isCurrent = reads.during(({ records }) => hasNoSupersession(1, from, to, last, records))
  expect(isCurrent).toBe(false)
  expect(hasReaderBefore(Number.POSITIVE_INFINITY, root)).toBe(false)
})
