import { expect, it } from 'vitest'
import { flush } from '../../src/storage/maintenance/flush.ts'
import { packRows } from '../../src/storage/maintenance/pack-rows.ts'
import { notePurges, type Purge, readPurges } from '../../src/storage/maintenance/purge-plan.ts'
import { purgePlannedRows, purgeSegments } from '../../src/storage/maintenance/purge-versions.ts'
import { recordsFile, segmentFiles, spaceOf } from '../../src/storage/maintenance/segment-files.ts'
import { wipeFiles } from '../../src/storage/maintenance/wipe-free.ts'
import { verifyRecords } from '../../src/storage/read/verify-records.ts'
import type { RecordDamage } from '../../src/storage/record-damage.ts'
import { namedBy } from '../../src/storage/segment/manifest.ts'
import { defaultLimits } from '../../src/storage/segment/segment-sink.ts'
import type { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { filesWith } from '../support/files-with.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { temporarySegments, visibleAt } from '../support/temporary-segments.ts'

function purge(records: TemporaryRecords, store: SegmentStore, purges: readonly Purge[]): void {
  const { environment } = records
  notePurges(environment, purges)
  flush(environment, store, defaultLimits)
  while (purgeSegments(environment, store, defaultLimits));
  expect(purgePlannedRows(environment, store)).toBe(true)
  const named = new Set(namedBy(store.manifest()))
  store.remove(store.storedIds().filter((id) => !named.has(id)))
  environment.root.resetReadTxn()
  store.endReads()
  while (wipeFiles(environment, store.environment));
}

function damages(records: TemporaryRecords): RecordDamage[] {
  const found: RecordDamage[] = []
  for (const _ of verifyRecords(records.environment, (damage) => found.push(damage)));
  return found
}

it('removes all versions of deleted records, and nothing of others', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  const rows = Array.from({ length: 40 }, (_, i) => ({
    id: i % 2 ? `goes-${i}-quux` : `stays-${i}`,
    input: `${i % 2 ? 'secret' : 'plain'} words ${i}`,
    metadata: { [i % 2 ? 'hidden' : 'shown']: `value ${i % 2 ? 'secret' : 'plain'}-${i}` },
  }))
  for (let from = 0; from < 40; from += 8) records.insert(rows.slice(from, from + 8))
  for (const { id } of rows.slice(0, 6))
    records.insert([{ id, _is_merge: true, output: 'secret output' }])
  records.insert([{ id: 'stays-0', _is_merge: true, output: 'plain output' }])
  flush(records.environment, store, defaultLimits)
  packRows(records.environment, store.manifest().flushedThrough)
  const ids = rows.filter((_, i) => i % 2).map(({ id }) => id)
  records.insert(ids.map((id) => ({ id, _object_delete: true })))
  const now = records.reader.lastTransaction()
  const before = visibleAt(records.reader, store, store.manifest(), now)
  expect(filesWith(records.directory, 'secret words')).not.toEqual([])
  expect(filesWith(records.directory, 'quux')).not.toEqual([])
  purge(records, store, [{ kind: 'deleted', object: 1, ids }])
  expect(visibleAt(records.reader, store, store.manifest(), now)).toEqual(before)
  expect(records.latest('stays-0')).toMatchObject({ output: 'plain output' })
  expect([...records.reader.historyOf(1, 'stays-0', 2 ** 48 - 1)].length).toBe(3)
  for (const id of ids) {
    expect(records.latest(id)).toBeUndefined()
    expect([...records.reader.historyOf(1, id, 2 ** 48 - 1)]).toEqual([])
  }
  expect(readPurges(records.environment.progress)).toEqual([])
  expect(damages(records)).toEqual([])
  expect(filesWith(records.directory, 'secret-')).toEqual([])
  expect(filesWith(records.directory, 'secret words')).toEqual([])
  expect(filesWith(records.directory, 'quux')).toEqual([])
  records.insert([{ id: ids[0]!, input: 'again' }])
  expect(records.latest(ids[0]!)).toMatchObject({ input: 'again' })
})

it('removes what was superseded before a transaction, and deletions, and keeps what is current', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  records.insert([
    { id: 'a', input: 'first words' },
    { id: 'b', input: 'only words' },
    { id: 'd', input: 'gone words' },
  ])
  records.insert([
    { id: 'a', input: 'second words' },
    { id: 'd', _object_delete: true },
  ])
  flush(records.environment, store, defaultLimits)
  const before = records.reader.lastTransaction() + 1
  records.insert([{ id: 'a', input: 'third words' }])
  purge(records, store, [{ kind: 'superseded', object: 1, before }])
  expect(records.latest('a')).toMatchObject({ input: 'third words' })
  expect([...records.reader.historyOf(1, 'a', 2 ** 48 - 1)].length).toBe(2)
  expect(records.latest('b')).toMatchObject({ input: 'only words' })
  expect([...records.reader.historyOf(1, 'd', 2 ** 48 - 1)]).toEqual([])
  expect(damages(records)).toEqual([])
  expect(filesWith(records.directory, 'first words')).toEqual([])
  expect(filesWith(records.directory, 'gone words')).toEqual([])
  expect(filesWith(records.directory, 'second words')).not.toEqual([])
})

it('finds what is packed in the place of rows that left, with as many rows as long', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  const row = (i: number) => ({ id: `row-${i}`, input: `${i} ${'words '.repeat(1000)}` })
  const pack = () => {
    flush(records.environment, store, defaultLimits)
    packRows(records.environment, store.manifest().flushedThrough)
    records.environment.root.resetReadTxn()
  }
  const leave = (ids: readonly string[]) => {
    records.insert(ids.map((id) => ({ id, _object_delete: true })))
    purge(records, store, [{ kind: 'deleted', object: 1, ids }])
  }
  const inputs = () => [10, 11, 12, 13, 14, 15].map((i) => records.latest(`row-${i}`)?.input)
  for (let i = 10; i < 13; i++) records.insert([row(i)])
  pack()
  const [a, b, c, d, e, f] = [10, 11, 12, 13, 14, 15].map((i) => row(i).input)
  expect(inputs()).toEqual([a, b, c, undefined, undefined, undefined])
  leave(['row-12'])
  records.insert([row(13)])
  pack()
  expect(inputs()).toEqual([a, b, undefined, d, undefined, undefined])
  leave(['row-11', 'row-13'])
  for (let i = 14; i < 16; i++) records.insert([row(i)])
  pack()
  expect(inputs()).toEqual([a, undefined, undefined, undefined, e, f])
})

it('frees nearly all that the versions took', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  const textOf = (i: number) =>
    Array.from({ length: 120 }, (_, word) => ((i * 127 + word) * 2_654_435_761) % 2 ** 32).join(' ')
  const rows = Array.from({ length: 2000 }, (_, i) => ({ id: `r${i}`, input: textOf(i) }))
  for (let from = 0; from < rows.length; from += 500) records.insert(rows.slice(from, from + 500))
  flush(records.environment, store, defaultLimits)
  const used = () =>
    [recordsFile(records.environment), ...segmentFiles(store.environment)]
      .map((file) => spaceOf(file).usedBytes)
      .reduce((sum, bytes) => sum + bytes)
  const before = used()
  const ids = rows.slice(0, 1800).map(({ id }) => id)
  records.insert(ids.map((id) => ({ id, _object_delete: true })))
  purge(records, store, [{ kind: 'deleted', object: 1, ids }])
  expect((before - used()) / (before * 0.9)).toBeGreaterThan(0.9)
})
