import { expect, it } from 'vitest'
import { flush } from '../../src/storage/maintenance/flush.ts'
import { packRows } from '../../src/storage/maintenance/pack-rows.ts'
import { dropObjects, namesAny, purgeRows } from '../../src/storage/maintenance/remove-objects.ts'
import { defaultLimits } from '../../src/storage/segment/segment-sink.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { rowsOfSegments, temporarySegments, visibleAt } from '../support/temporary-segments.ts'

const long = 'words and more words '.repeat(8000)

/** Rows of three objects, the second of which is deleted: side by side with others, and alone. */
function writtenStore() {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  for (const object of [1, 2, 3]) {
    records.insert([{ id: 'a', input: long, metadata: { object } }, { id: 'b' }], object)
    records.insert([{ id: 'a', _is_merge: true, output: object }], object)
  }
  flush(records.environment, store, defaultLimits)
  records.insert([{ id: 'c' }, { id: 'd' }], 2)
  const manifest = flush(records.environment, store, defaultLimits)
  packRows(records.environment, manifest.flushedThrough)
  return { records, store }
}

it('takes the rows of an object out of all segments, one after the other', () => {
  const { records, store } = writtenStore()
  const { reader, environment } = records
  const now = reader.lastTransaction()
  const all = visibleAt(reader, store, store.manifest(), now, [1, 2, 3])
  const before = all.filter((name) => !name.startsWith('2/'))
  const isIndexed = store.manifest().segments.some(({ metadata }) => metadata.partIndexes)
  expect(isIndexed).toBe(true)
  let steps = 0
  while (dropObjects(environment, store, [2], defaultLimits)) steps++
  expect(steps).toBe(2)
  const manifest = store.manifest()
  expect(namesAny(manifest, new Set([2]))).toBe(false)
  // Rows that are current, and those that were superseded.
  expect(manifest.segments.length).toBe(2)
  expect(rowsOfSegments(store, manifest).map(({ object }) => object)).toEqual([1, 1, 1, 3, 3, 3])
  expect(visibleAt(reader, store, manifest, now, [1, 3])).toEqual(before)
  const set = store.open(manifest.segments[0]!.id)
  expect(set.columns(['input'])?.text?.grams).toBeDefined()
})

it('leaves nothing of an object in the row store, and all of the others', () => {
  const { records, store } = writtenStore()
  const { reader, environment } = records
  while (dropObjects(environment, store, [2], defaultLimits));
  purgeRows(environment, [2])
  environment.root.resetReadTxn()
  expect([...reader.readDelta(2, 0, 2 ** 48 - 2)]).toEqual([])
  expect(reader.fieldPaths(2)).toEqual([])
  const everything = { transaction: 0, index: 0 }
  const end = { transaction: 2 ** 48 - 2, index: 0 }
  expect([...reader.supersessions(2, everything, end, 2 ** 48 - 2)]).toEqual([])
  for (const object of [1, 3]) {
    expect([...reader.readDelta(object, 0, 2 ** 48 - 2)].length).toBe(3)
    expect(records.latest('a', object)).toMatchObject({ output: object })
  }
})

it('goes on where it was cut short', () => {
  const { records, store } = writtenStore()
  const { environment } = records
  dropObjects(environment, store, [2], defaultLimits)
  // As after a crash: the first segment is there, though no manifest names it.
  const again = temporarySegments(records.directory)
  while (dropObjects(environment, again, [2], defaultLimits));
  purgeRows(environment, [2])
  purgeRows(environment, [2])
  expect(rowsOfSegments(again, again.manifest()).every(({ object }) => object !== 2)).toBe(true)
  expect(records.latest('b', 3)).toBeDefined()
})
