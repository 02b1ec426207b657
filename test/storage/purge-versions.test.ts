import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  closeSegments,
  openSegments,
  type RecordsEnvironment,
} from '../../src/storage/environment.ts'
import { readRunList } from '../../src/storage/id/id-run-list.ts'
import { flush } from '../../src/storage/maintenance/flush.ts'
import {
  type FoldLimits,
  foldIds,
  removeUnlistedRuns,
} from '../../src/storage/maintenance/fold-ids.ts'
import { packRows } from '../../src/storage/maintenance/pack-rows.ts'
import { notePurges, type Purge, readPurges } from '../../src/storage/maintenance/purge-plan.ts'
import { purgePlannedRows, purgeSegments } from '../../src/storage/maintenance/purge-versions.ts'
import { purgeRows } from '../../src/storage/maintenance/remove-objects.ts'
import { recordsFile, segmentFiles, spaceOf } from '../../src/storage/maintenance/segment-files.ts'
import { wipeFiles } from '../../src/storage/maintenance/wipe-free.ts'
import { verifyRecords } from '../../src/storage/read/verify-records.ts'
import type { RecordDamage } from '../../src/storage/record-damage.ts'
import { namedBy } from '../../src/storage/segment/manifest.ts'
import { defaultLimits } from '../../src/storage/segment/segment-sink.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { filesWith } from '../support/files-with.ts'
import { isSlow } from '../support/random-seed.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { temporarySegments, visibleAt } from '../support/temporary-segments.ts'

function purge(
  environment: RecordsEnvironment,
  store: SegmentStore,
  purges: readonly Purge[],
): void {
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

/** As maintenance does it, of objects of any size. */
function fold(environment: RecordsEnvironment): void {
  while (foldIds(environment, { recentIds: 1, fanIn: 2 }));
}

function idCount({ environment }: TemporaryRecords): number {
  environment.root.resetReadTxn()
  const { runs } = readRunList(environment.progress)
  return environment.ids.getKeysCount() + runs.reduce((sum, { entries }) => sum + entries, 0)
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
  purge(records.environment, store, [{ kind: 'deleted', object: 1, ids }])
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
  purge(records.environment, store, [{ kind: 'superseded', object: 1, before }])
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
    purge(records.environment, store, [{ kind: 'deleted', object: 1, ids }])
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
  purge(records.environment, store, [{ kind: 'deleted', object: 1, ids }])
  expect((before - used()) / (before * 0.9)).toBeGreaterThan(0.9)
})

it('keeps no ids of what was removed', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  const ids = Array.from({ length: 1000 }, (_, i) => `r${i}`)
  for (let from = 0; from < 1000; from += 100) {
    records.insert(ids.slice(from, from + 100).map((id) => ({ id })))
  }
  const deleted = ids.slice(0, 900)
  for (const id of deleted.slice(0, 300)) records.insert([{ id, _object_delete: true }])
  records.insert(deleted.slice(300).map((id) => ({ id, _object_delete: true })))
  // Of these nobody has said that they are to leave for good.
  records.insert(ids.slice(990).map((id) => ({ id, _object_delete: true })))
  purge(records.environment, store, [{ kind: 'deleted', object: 1, ids: deleted }])
  fold(records.environment)
  expect(idCount(records)).toBe(100)
  expect(records.latest('r950')).toBeDefined()
  expect([...records.reader.historyOf(1, 'r995', 2 ** 48 - 1)].length).toBe(2)
  records.insert([{ id: 'r5', input: 'again' }])
  expect(records.latest('r5')).toMatchObject({ input: 'again' })
  expect([...records.reader.historyOf(1, 'r5', 2 ** 48 - 1)].length).toBe(1)
})

it('keeps what says that an older version does not count which is in no run yet', () => {
  const records = new TemporaryRecords()
  const { environment } = records
  const store = temporarySegments(records.directory)
  records.insert(['b', 'c', 'd', 'e'].map((id) => ({ id })))
  for (const id of ['x', 'y', 'z']) records.insert([{ id }])
  // The purge ends this fold of small requests, and begins no other.
  expect(foldIds(environment, { recentIds: 3, fanIn: 2 }, 0)).toBe(true)
  records.insert([{ id: 'a' }])
  const ids = ['a', 'b', 'c', 'd']
  records.insert(ids.map((id) => ({ id, _object_delete: true })))
  purge(environment, store, [{ kind: 'deleted', object: 1, ids }])
  expect(environment.ids.getKeysCount()).toBe(1)
  while (foldIds(environment, { recentIds: 100, fanIn: 100 }));
  expect(idCount(records)).toBe(6)
  expect(records.latest('a')).toBeUndefined()
  records.insert([{ id: 'a', input: 'again' }])
  expect(records.latest('a')).toMatchObject({ input: 'again' })
})

it('keeps no ids of an object that was removed', () => {
  const records = new TemporaryRecords()
  const rows = Array.from({ length: 500 }, (_, i) => ({ id: `r${i}` }))
  records.insert(rows, 1)
  records.insert(rows, 2)
  purgeRows(records.environment, [1])
  fold(records.environment)
  expect(idCount(records)).toBe(500)
  expect(records.reader.latest(2, 'r7')).toBeDefined()
})

/** What a process that is killed leaves of a fold is not known to the next one, which begins anew. */
it('knows the same records whenever ids are folded and versions removed', async () => {
  const id = fc.integer({ min: 0, max: 7 }).map((n) => `id${n}`)
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('insert'),
        ids: fc.uniqueArray(id, { minLength: 1, maxLength: 6 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('delete'),
        ids: fc.uniqueArray(id, { minLength: 1, maxLength: 6 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('purge'),
        ids: fc.uniqueArray(id, { minLength: 1, maxLength: 6 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('begin', 'fold', 'old'),
        ids: fc.constant([] as string[]),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('killed'), ids: fc.constant([] as string[]) }),
    },
  )
  const limits: FoldLimits = { recentIds: 3, fanIn: 2 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const records = new TemporaryRecords()
      const segments = openSegments(records.directory, { readOnly: false })
      const store = new SegmentStore(segments)
      let { environment } = records
      const model = new Map<string, string>()
      try {
        steps.forEach(({ kind, ids }, n) => {
          if (kind === 'insert') {
            records.insert(ids.map((one) => ({ id: one, input: `input ${n}` })))
            for (const one of ids) model.set(one, `input ${n}`)
          } else if (kind === 'delete') {
            records.insert(ids.map((one) => ({ id: one, _object_delete: true })))
            for (const one of ids) model.delete(one)
          } else if (kind === 'purge') {
            purge(environment, store, [{ kind: 'deleted', object: 1, ids }])
          } else if (kind === 'old') {
            const before = records.reader.lastTransaction() + 1
            purge(environment, store, [{ kind: 'superseded', object: 1, before }])
          } else if (kind === 'begin') foldIds(environment, limits, 0)
          else if (kind === 'fold') fold(environment)
          else {
            // What was begun is known by the environment.
            environment = { ...environment }
            removeUnlistedRuns(environment)
          }
          for (let i = 0; i < 8; i++) {
            expect(records.latest(`id${i}`)?.input).toEqual(model.get(`id${i}`))
          }
        })
        expect(damages(records)).toEqual([])
        fold(environment)
      } finally {
        records.close()
        await closeSegments(segments)
      }
    }),
    { numRuns: isSlow ? 600 : 40 },
  )
}, 1_200_000)
