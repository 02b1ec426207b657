import { expect, test } from 'vitest'
import { mayHaveSuperseded } from '../../src/storage/read/superseded-rows.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'

test('whether transactions superseded versions that are as old as that', () => {
  const records = new TemporaryRecords()
  const insert = (...rows: readonly object[]) => {
    records.insert(rows as never)
    return records.reader.lastTransaction()
  }
  const first = insert({ id: 'a', input: 1 }, { id: 'b', input: 1 })
  const newer = insert({ id: 'c', input: 1 })
  const merged = insert({ id: 'c', _is_merge: true, output: 2 })
  const replaced = insert({ id: 'a', input: 2 })
  const deleted = insert({ id: 'b', _object_delete: true })
  const again = insert({ id: 'b', input: 3 })

  const may = (after: number, through: number, version = first, most = 1000) =>
    mayHaveSuperseded(records.reader, 1, { after, through, version }, most)
  expect(may(first, newer)).toBe(false)
  expect(may(newer, merged)).toBe(false)
  expect(may(newer, merged, newer)).toBe(true)
  expect(may(merged, replaced)).toBe(true)
  expect(may(replaced, deleted)).toBe(true)
  expect(may(deleted, again)).toBe(false)
  expect(may(first, again)).toBe(true)
  expect(may(again, again)).toBe(false)
  // It would take too long to tell.
  expect(may(first, merged, first, 2)).toBe(true)
})
